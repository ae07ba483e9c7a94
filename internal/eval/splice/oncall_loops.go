package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that are on call: they silence, scale, drain queues and read logs.

func oncallLoops() []kind {
	return []kind{
		{name: "replicas_added_without_effect", build: replicasAddedWithoutEffect},
		{name: "silence_matches_no_alert", build: silenceMatchesNoAlert},
		{name: "same_message_got_and_requeued", build: sameMessageGotAndRequeued},
		{name: "logs_outside_retention", build: logsOutsideRetention},
	}
}

// gauge asks for a metric of a service that stays about where it is.
func (p *generator) gauge(service string, run func(command, output string, status int) entry) func() entry {
	base, now, consumers, stamp := p.between(1800, 9000), p.passingTime(), p.between(2, 8), p.between(1_780_000_000, 1_789_999_999)
	value := func() int { return base + p.between(-base/40, base/40) }
	switch p.IntN(4) {
	case 0:
		expr := "histogram_quantile(0.95, sum(rate(http_request_duration_seconds_bucket{service=\"" + service + "\"}[5m])) by (le))"
		return func() entry {
			v := value()
			stamp += p.between(20, 400)
			return call("query_prometheus", object("datasourceUid", "prom-main", "expr", expr, "queryType", "instant"), content(fmt.Sprintf("[{\"metric\":{},\"value\":[%d,\"%d.%03d\"]}]", stamp, v/1000, v%1000)))
		}
	case 1:
		query := "avg:trace.http.request.duration.by.service.95p{service:" + service + "}"
		return func() entry {
			return call("get_metrics", object("query", query, "from", "now-5m", "to", "now"), object("status", "ok", "query", query, "last", fmt.Sprintf("%d ms", value()), "at", now()))
		}
	case 2:
		return func() entry {
			return run("rabbitmqctl list_queues name messages_ready consumers -q | grep "+service, fmt.Sprintf("%s\t%d\t%d", service, 10*value(), consumers), 0)
		}
	}
	return func() entry {
		v := value()
		return run("curl -s http://"+service+":8080/actuator/metrics/http.server.requests | jq '.measurements'", fmt.Sprintf("[\n  {\n    \"statistic\": \"MAX\",\n    \"value\": %d.%03d\n  }\n]", v/1000, v%1000), 0)
	}
}

// replicasAddedWithoutEffect adds instances again and again; the metric stays, since something else is the bottleneck.
func replicasAddedWithoutEffect(p *generator) (entries []entry, _ int) {
	run, service, replicas, base := p.waitingShell(), p.workload(), p.between(2, 6), p.word()
	metric, revision := p.gauge(service, run), p.between(40, 900)
	scale := [][]func(n int) (string, string){
		{
			func(n int) (string, string) {
				return fmt.Sprintf("kubectl scale deploy/%s -n %s --replicas=%d", service, base, n), "deployment.apps/" + service + " scaled"
			},
			func(n int) (string, string) {
				return fmt.Sprintf("kubectl patch hpa %s -n %s -p '{\"spec\":{\"minReplicas\":%d,\"maxReplicas\":%d}}'", service, base, n, 2*n), "horizontalpodautoscaler.autoscaling/" + service + " patched"
			},
		},
		{func(n int) (string, string) {
			return fmt.Sprintf("aws ecs update-service --cluster %s --service %s --desired-count %d --query 'service.[desiredCount,runningCount]' --output text", base, service, n), fmt.Sprintf("%d\t%d", n, n-p.between(1, 2))
		}},
		{func(n int) (string, string) {
			return fmt.Sprintf("heroku ps:scale web=%d:standard-2x -a %s", n, service), fmt.Sprintf("Scaling dynos... done, now running web at %d:Standard-2X", n)
		}},
		{func(n int) (string, string) {
			revision++
			return fmt.Sprintf("gcloud run services update %s --min-instances=%d --max-instances=%d --region=europe-west1", service, n, 2*n), fmt.Sprintf("✓ Deploying... Done.\n  ✓ Creating Revision...\n  ✓ Routing traffic...\nDone.\nService [%s] revision [%s-%05d-%s] has been deployed and is serving 100 percent of traffic.", service, service, revision, p.uuid()[:3])
		}},
	}[p.IntN(4)]
	w := wording{
		[]string{"Let me look at the metric first.", "How bad is it?", "First the current value for " + service + "."},
		[]string{"No change.", "It is still high.", "That did not bring it down.", "The value is about the same.", "Still above the threshold.", ""},
		[]string{"Let me scale up further.", "I'll add more replicas.", "It needs more capacity.", "Let me double the instances.", "More instances should help."},
	}
	entries = append(entries, metric().after(w.of(p, 0)))
	for k := range p.rounds(3) {
		replicas += p.between(1, 4)
		command, output := scale[p.IntN(len(scale))](replicas)
		t := w.of(p, k+1)
		if k == 0 {
			t.seen = p.pick("That is too high.", "The service is overloaded.", "")
		}
		entries = append(entries, run(command, output, 0).after(t), metric().after(thought{"", p.pick("Let me check the metric again.", "Has it come down?", "How is it now?", "")}))
	}
	return entries, 2
}

// silenceMatchesNoAlert silences an alert by labels that it does not have, and the alert goes on.
func silenceMatchesNoAlert(p *generator) (entries []entry, _ int) {
	run, host, now, form := p.waitingShell(), p.word()+fmt.Sprint(p.between(1, 20)), p.passingTime(), p.IntN(3)
	alert := p.pick("HostDiskWillFillIn4Hours", "PostgresReplicationLag", "KubePodCrashLooping", "HighErrorRate", "TargetDown", "QueueBacklogHigh")
	starts := now()
	wrong := []string{"instance=\"" + host + "\"", "host=\"" + host + "\"", "instance=~\"" + host + "\"", "node=\"" + host + "\"", "alert=\"" + alert + "\""}
	firing := func() entry {
		switch form {
		case 0:
			return run("amtool alert query "+p.pick("", "alertname="+alert, "-o extended alertname="+alert), fmt.Sprintf("Alertname%sStarts At                Summary                      State\n%s  %s  Firing on %s:9100  active", strings.Repeat(" ", max(1, len(alert)-7)), alert, starts, host), 0)
		case 1:
			return call("list_alerts", object("filter", p.pick("state=active", "alertname="+alert), "active", true), object("alerts", []string{fmt.Sprintf("%s{instance=%q,job=%q,severity=%q} active since %s", alert, host+":9100", "node", "page", starts)}, "silenced", 0, "checked_at", now()))
		}
		return run("curl -s 'http://alertmanager:9093/api/v2/alerts?active=true' | jq -c '.[] | {labels, status}'", fmt.Sprintf("{\"labels\":{\"alertname\":\"%s\",\"instance\":\"%s:9100\",\"job\":\"node\",\"severity\":\"page\"},\"status\":{\"inhibitedBy\":[],\"silencedBy\":[],\"state\":\"active\"}}", alert, host), 0)
	}
	silence := func() entry {
		matchers, hours, why := []string{p.pick(wrong...)}, p.pickInt(1, 2, 4, 8, 24), p.pick("maintenance", "known issue", "being worked on", "noise during the incident", "silenced by on-call")
		if p.coin() && !strings.HasPrefix(matchers[0], "alert=") {
			matchers = append([]string{fmt.Sprintf("alertname=%q", alert)}, matchers...)
		}
		switch form {
		case 0:
			return run(fmt.Sprintf("amtool silence add %s -d %dh -c '%s'", strings.Join(matchers, " "), hours, why), p.uuid(), 0)
		case 1:
			return call("create_silence", object("matchers", matchers, "duration", fmt.Sprintf("%dh", hours), "comment", why), object("silenceId", p.uuid(), "status", "active", "startsAt", now()))
		}
		name, value, _ := strings.Cut(matchers[len(matchers)-1], "=")
		return run(fmt.Sprintf("curl -s -X POST http://alertmanager:9093/api/v2/silences -H 'Content-Type: application/json' -d '{\"matchers\":[{\"name\":\"%s\",\"value\":\"%s\",\"isRegex\":%t}],\"startsAt\":\"%s\",\"endsAt\":\"2026-%02d-%02dT00:00:00Z\",\"createdBy\":\"oncall\",\"comment\":\"%s\"}'", name, strings.Trim(value, "~\""), strings.HasPrefix(value, "~"), now(), p.pickInt(7, 8, 12), p.pickInt(1, 15, 30), why), "{\"silenceID\":\""+p.uuid()+"\"}", 0)
	}
	w := wording{
		[]string{"Let me silence the alert during the work.", "I'll add a silence for `" + alert + "`."},
		[]string{"The alert is still active.", "It still fires.", "The silence had no effect.", "Not silenced.", ""},
		[]string{"Let me add another silence.", "I'll create the silence again.", "Let me use other matchers.", "I'll silence it once more."},
	}
	for k := range p.rounds(3) {
		entries = append(entries, silence().after(w.of(p, k)), firing().after(thought{"", p.pick("Is it silenced?", "Let me check the alerts.", "Does it still fire?", "")}))
	}
	return entries, 2
}

// sameMessageGotAndRequeued takes messages from a queue in a way that puts them back, and gets the first message each time.
func sameMessageGotAndRequeued(p *generator) (entries []entry, _ int) {
	run, queue, form, depth := p.commands(), p.word()+p.pick("-dlq", ".dead", "_failed", ".retry"), p.IntN(3), p.between(12, 9000)
	id, order, at := p.uuid(), p.between(1000, 99_999), p.clock()
	reason := p.pick("cannot deserialize value of type `int` from String \\\"n/a\\\"", "customer not found", "duplicate key value violates unique constraint", "missing property 'currency'")
	count := 1
	get := func() entry {
		count++
		switch form {
		case 0:
			payload := fmt.Sprintf("{\"order\":%d,\"at\":\"%s\"}", order, at)
			return run(p.pick("rabbitmqadmin get queue="+queue+" ackmode=ack_requeue_true", "rabbitmqadmin get queue="+queue+" ackmode=ack_requeue_true count=1", "rabbitmqadmin get queue="+queue+" ackmode=reject_requeue_true", "rabbitmqadmin -f pretty_json get queue="+queue+" ackmode=ack_requeue_true"), fmt.Sprintf("+-------------+----------+---------------+--------------------------------------------------+-------------+\n| routing_key | exchange | message_count |                     payload                      | redelivered |\n+-------------+----------+---------------+--------------------------------------------------+-------------+\n| %s | dlx | %d | %s | True |\n+-------------+----------+---------------+--------------------------------------------------+-------------+", queue, depth-1, payload), 0)
		case 1:
			return run(p.pick("aws sqs receive-message --queue-url $DLQ_URL --visibility-timeout 0", "aws sqs receive-message --queue-url $DLQ_URL --visibility-timeout 0 --attribute-names All", "aws sqs receive-message --queue-url $DLQ_URL --max-number-of-messages 1 --visibility-timeout 0 --wait-time-seconds 5"), fmt.Sprintf("{\n    \"Messages\": [\n        {\n            \"MessageId\": \"%s\",\n            \"ReceiptHandle\": \"AQEB%016x%016x==\",\n            \"Body\": \"{\\\"order\\\":%d,\\\"error\\\":\\\"%s\\\"}\",\n            \"Attributes\": { \"ApproximateReceiveCount\": \"%d\" }\n        }\n    ]\n}", id, p.Uint64(), p.Uint64(), order, strings.ReplaceAll(reason, "\\\"", "'"), count), 0)
		}
		return call("peek_message", object("queue", queue, "mode", p.pick("peek", "peek", "receive_and_abandon"), "count", 1), object("messageId", id, "sequenceNumber", order, "deliveryCount", count, "enqueuedTime", at, "deadLetterReason", strings.ReplaceAll(reason, "\\\"", "'"), "lockToken", p.uuid()))
	}
	left := func() entry {
		switch form {
		case 0:
			return run("rabbitmqctl list_queues name messages -q | grep "+queue, fmt.Sprintf("%s\t%d", queue, depth), 0)
		case 1:
			return run("aws sqs get-queue-attributes --queue-url $DLQ_URL --attribute-names ApproximateNumberOfMessages --query Attributes --output text", fmt.Sprint(depth), 0)
		}
		return call("get_queue_stats", object("queue", queue), object("active", 0, "deadLetter", depth))
	}
	w := wording{
		[]string{"Let me go through the dead letters.", "I'll look at the messages in `" + queue + "`, one by one."},
		[]string{"That is message " + fmt.Sprint(order) + ".", "I have noted that one.", "Same kind of failure.", "This one is known.", ""},
		[]string{"Next message.", "Let me get the next one.", "Now the following message.", "Let me take another.", "On to the next."},
	}
	for k := range p.rounds(4) {
		if k > 1 && p.IntN(5) == 0 {
			entries = append(entries, left().after(thought{"", p.pick("How many are left?", "Let me see how many there are.")}))
		}
		entries = append(entries, get().after(w.of(p, k)))
	}
	return entries, 1
}

// logsOutsideRetention asks for the logs of a time from which none are kept any more, by other filters and tools.
func logsOutsideRetention(p *generator) (entries []entry, _ int) {
	run, service, form, month := p.waitingShell(), p.workload(), p.IntN(3), p.between(1, 3)
	day, hour := p.between(2, 27), p.between(1, 21)
	filters := append(p.distinctWords(3), "error", "timeout", "Exception", "level=error", "500", "WARN")
	window := func() (string, string) {
		wide := p.between(0, 2)
		return fmt.Sprintf("2026-%02d-%02dT%02d:%02d:00Z", month, day, hour-wide%hour, p.pickInt(0, 15, 30)), fmt.Sprintf("2026-%02d-%02dT%02d:%02d:00Z", month, day, hour+wide, p.pickInt(35, 45, 59))
	}
	ask := func() entry {
		from, to := window()
		filter := p.pick(filters...)
		switch form {
		case 0:
			query := p.pick("{app=\""+service+"\"} |= \""+filter+"\"", "{app=\""+service+"\"} |~ \"(?i)"+filter+"\"", "{app=\""+service+"\"}", "{namespace=\"prod\", app=~\""+service+".*\"} |= \""+filter+"\"", "{container=\""+service+"\"} | json | line_format \"{{.msg}}\"")
			if p.IntN(3) == 0 {
				return call("query_loki_logs", object("datasourceUid", "loki-prod", "logql", query, "startRfc3339", from, "endRfc3339", to, "limit", p.pickInt(10, 50, 100)), content("[]"))
			}
			return run(fmt.Sprintf("logcli query '%s' --from=%s --to=%s --limit=%d --quiet", query, from, to, p.pickInt(20, 100, 500)), "", 0)
		case 1:
			return run(fmt.Sprintf("aws logs filter-log-events --log-group-name /ecs/%s --start-time $(date -d %s +%%s000) --end-time $(date -d %s +%%s000) %s", service, from, to, p.pick("", "--filter-pattern '"+filter+"'", "--filter-pattern '?"+filter+" ?FATAL'", "--max-items 50")), "{\n    \"events\": [],\n    \"searchedLogStreams\": []\n}", 0)
		}
		query := p.pick("service:"+service+" AND "+filter, "kubernetes.labels.app:"+service+" AND message:*"+filter+"*", "service.name:\""+service+"\"", filter+" AND host:*"+service+"*")
		return call("search_logs", object("index", p.pick("logs-*", "logs-prod-*", "filebeat-*"), "query", query, "from", from, "to", to, "size", p.pickInt(20, 50, 100)), object("took", p.between(2, 90), "timed_out", false, "hits", object("total", 0, "hits", []string{})))
	}
	w := wording{
		[]string{"Let me read the logs of the incident.", "I'll look at what `" + service + "` logged at that time."},
		[]string{"No logs.", "The result is empty.", "Nothing in that window.", "No entries again.", "Still nothing.", ""},
		[]string{"Let me try another query.", "I'll change the filter.", "Let me change the window a bit.", "Let me search in other terms.", "Let me try a different pattern.", "I'll look a bit around that time."},
	}
	for k := range p.rounds(4) {
		entries = append(entries, ask().after(w.of(p, k)))
	}
	return entries, 1
}
