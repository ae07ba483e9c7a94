package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents on call, which act on a service and see it stay as it is.

func incidentLoops() []kind {
	return []kind{
		{name: "releases_swapped", build: releasesSwapped},
		{name: "replicas_scaled_back", build: replicasScaledBack},
		{name: "runbook_from_the_top", build: runbookFromTheTop},
		{name: "renewal_changes_nothing", build: renewalChangesNothing},
	}
}

// errorRate returns a query of the rate of errors of a service and its answer, in percent with two digits.
func errorRate(service string, hundredths int, at string) entry {
	query := fmt.Sprintf("sum(rate(http_requests_total{service=%q,code=~\"5..\"}[2m])) / sum(rate(http_requests_total{service=%q}[2m])) * 100", service, service)
	value := json.RawMessage(fmt.Sprintf(`{"metric":{},"value":[%q,"%d.%02d"]}`, at, hundredths/100, hundredths%100))
	return call("query_prometheus", object("expr", query), object("status", "success", "resultType", "vector", "result", []json.RawMessage{value}))
}

// releasesSwapped goes back to the last release and forward to the new one; the rate of errors is the same with both.
func releasesSwapped(p *generator) (entries []entry, _ int) {
	run, service, build := p.patientShell(), p.word()+"-api", p.between(300, 4000)
	rate, clock := p.between(700, 3200), p.passingTime()
	words := wording{
		first: []string{"The errors began near the release. I'll roll back.", "Let me go back to the last release."},
		seen:  []string{"The error rate is the same.", "That didn't change the errors.", "Still as many errors.", "No improvement with this release.", "It isn't better."},
	}
	for round := range p.between(5, 9) {
		tag, does := build-1, p.pick("Let me roll back.", "I'll go back to the previous release.", "Then back to the old one.")
		if round%2 == 1 {
			tag, does = build, p.pick("Let me deploy the new release again.", "I'll roll forward.", "Then the new one again.")
		}
		check := errorRate(service, rate+p.between(-60, 60), clock())
		entries = append(entries,
			run(fmt.Sprintf("kubectl -n prod set image deployment/%s app=registry.example/%s:r%d && kubectl -n prod rollout status deployment/%s --timeout=180s", service, service, tag, service), fmt.Sprintf("deployment.apps/%s image updated\nWaiting for deployment %q rollout to finish: %d out of 4 new replicas have been updated...\ndeployment %q successfully rolled out", service, service, p.between(1, 3), service), 0).after(words.then(p, round, does)),
			check.after(thought{"It is rolled out.", p.pick("How many errors now?", "Let me look at the error rate.", "Did that help?")}))
	}
	return entries, 4
}

// replicasScaledBack scales a deployment up; an autoscaler sets it back within seconds.
func replicasScaledBack(p *generator) (entries []entry, _ int) {
	run, service, age := p.commands(), p.word()+"-worker", p.between(12, 300)
	replicas, depth := p.between(2, 4), p.between(9000, 80_000)
	words := wording{
		first: []string{"The queue is long. I'll scale up.", "Let me add replicas."},
		seen:  []string{fmt.Sprintf("It is back at %d replicas.", replicas), "The replicas are gone again.", fmt.Sprintf("Only %d are running.", replicas), "It didn't keep the new size."},
		next:  []string{"Let me scale it up again.", "I'll set the replicas once more.", "I'll try another number.", "Scaling again.", "Let me scale again and wait longer."},
	}
	for round := range p.between(4, 7) {
		number := p.pickInt(6, 8, 10, 12, 15)
		entries = append(entries,
			run(fmt.Sprintf("kubectl -n prod scale deployment/%s --replicas=%d", service, number), "deployment.apps/"+service+" scaled", 0).after(words.of(p, round)),
			run(fmt.Sprintf("sleep %d; kubectl -n prod get deployment %s", p.pickInt(20, 30, 45), service), fmt.Sprintf("%-*s   READY   UP-TO-DATE   AVAILABLE   AGE\n%s   %d/%d     %d            %d           %dd", len(service), "NAME", service, replicas, replicas, replicas, replicas, age), 0).after(thought{next: p.pick("Are they up?", "Let me look at the deployment.", "How many are ready?")}))
		if round > 0 && p.IntN(4) == 0 {
			depth += p.between(200, 3000)
			entries = append(entries, run("redis-cli -h queue.prod llen jobs:"+service, fmt.Sprint(depth), 0).after(thought{next: p.pick("How long is the queue?", "And the queue?")}))
		}
	}
	return entries, 2
}

// runbookFromTheTop goes through the steps of a runbook, and begins it anew when the alert still fires at its end.
func runbookFromTheTop(p *generator) (entries []entry, _ int) {
	service, alert := p.word()+"-service", capitalized(p.word())+p.pick("QueueBacklog", "LatencyHigh", "ErrorBudgetBurn")
	page, clock := fmt.Sprintf("RB-%03d", p.between(10, 400)), p.passingTime()
	since, depth := clock(), p.between(20_000, 90_000)
	text := "# " + alert + "\n\n1. Flush the response cache of " + service + ".\n2. Restart the workers.\n3. Check the depth of the queue. It should fall within two minutes.\n4. Check whether the alert is resolved.\n\nOwner: platform on-call. Last reviewed: 2025-11-03."
	words := wording{
		first: []string{"There is a runbook for this alert.", "Let me open the runbook."},
		seen:  []string{"The alert is still firing.", "It isn't resolved.", "The backlog is unchanged."},
		next:  []string{"Let me go through the runbook again.", "I'll start over with step 1.", "Maybe I missed a step. From the top.", "Let me read the runbook again and repeat it."},
	}
	for round := range p.between(3, 4) {
		entries = append(entries,
			call("get_runbook", object("id", page), quoted(text)).after(words.of(p, round)),
			call("flush_cache", object("service", service, "scope", "responses"), object("ok", true, "keys_removed", p.between(900, 1400), "at", clock())).after(thought{next: p.pick("Step 1: flush the cache.", "First the cache.", "Step 1.")}),
			call("restart_workers", object("service", service), object("ok", true, "restarted", 6, "at", clock())).after(thought{p.pick("Flushed.", ""), p.pick("Step 2: restart the workers.", "Now the workers.", "Step 2.")}),
			call("get_queue_depth", object("queue", service+"-jobs"), object("queue", service+"-jobs", "messages_ready", depth+p.between(-200, 200), "consumers", 6)).after(thought{p.pick("Restarted.", ""), p.pick("Step 3: the depth of the queue.", "How deep is the queue?", "Step 3.")}),
			call("get_alert", object("name", alert), object("name", alert, "state", "firing", "since", since, "severity", "page", "evaluated_at", clock())).after(thought{next: p.pick("Step 4: is it resolved?", "And the alert?", "Step 4.")}))
	}
	return entries, 5
}

// renewalChangesNothing renews a certificate and reloads the web server; a load balancer in front of it serves the old one.
func renewalChangesNothing(p *generator) (entries []entry, _ int) {
	run, domain := p.commands(), p.pick("api", "www", "login", "shop")+"."+p.word()+".example"
	day := p.between(2, 27)
	served := fmt.Sprintf("notBefore=Mar %2d 06:11:09 2026 GMT\nnotAfter=Jun %2d 06:11:08 2026 GMT", day, day)
	words := wording{
		first: []string{"The certificate has expired. I'll renew it.", "Let me renew the certificate of " + domain + "."},
		seen:  []string{"The old certificate is still served.", "The date hasn't changed.", "It still shows June.", "The same expiry as before.", "Clients still get the expired one."},
		next:  []string{"Let me renew it again.", "I'll force the renewal.", "Let me issue it once more.", "Perhaps the reload came too early. Again.", "I'll renew and restart this time."},
	}
	for round := range p.between(3, 5) {
		renew := "certbot renew --cert-name " + domain + p.pick(" --force-renewal", " --force-renewal --no-random-sleep-on-renew", " --force-renewal --key-type ecdsa")
		log := strings.ReplaceAll("Saving debug log to /var/log/letsencrypt/letsencrypt.log\n\n- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -\nProcessing /etc/letsencrypt/renewal/{}.conf\n- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -\nRenewing an existing certificate for {}\n\n- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -\nCongratulations, all renewals succeeded:\n  /etc/letsencrypt/live/{}/fullchain.pem (success)\n- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - -", "{}", domain)
		entries = append(entries,
			run(renew, log, 0).after(words.of(p, round)),
			run(p.pick("systemctl reload nginx", "systemctl restart nginx", "nginx -s reload"), "", 0).after(thought{p.pick("Renewed.", "", "The renewal succeeded."), p.pick("Reload the server.", "Now nginx has to load it.", "Reload.")}),
			run("echo | openssl s_client -connect "+domain+":443 -servername "+domain+" 2>/dev/null | openssl x509 -noout -dates", served, 0).after(thought{next: p.pick("Which dates are served?", "Let me verify from outside.", "Check the certificate.")}))
	}
	return entries, 3
}
