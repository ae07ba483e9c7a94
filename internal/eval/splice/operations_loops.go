package splice

import (
	"fmt"
	"slices"
)

// The loops of this file are those of agents that operate services: infrastructure, clusters, databases, devices and logs.

func operationsLoops() []kind {
	return []kind{
		{name: "state_locked", build: stateLocked},
		{name: "table_denied", build: tableDenied},
		{name: "crash_inspected_again", build: crashInspectedAgain},
		{name: "host_unreachable", build: hostUnreachable},
		{name: "migration_dirty", build: migrationDirty},
		{name: "device_not_listed", build: deviceNotListed},
		{name: "signature_refused", build: signatureRefused},
		{name: "logs_queried_again", build: logsQueriedAgain},
		{name: "port_in_use", build: portInUse},
	}
}

// stateLocked plans and applies with other flags; the state is locked each time.
func stateLocked(p *generator) (entries []entry, _ int) {
	lock, who := p.uuid(), p.word()
	for range p.between(6, 9) {
		output := fmt.Sprintf("╷\n│ Error: Error acquiring the state lock\n│ \n│ Error message: ConditionalCheckFailedException: The conditional request failed\n│ RequestID: %s\n│ Lock Info:\n│   ID:        %s\n│   Who:       %s@ci\n╵", p.uuid(), lock, who)
		command := p.pick("terraform apply", "terraform plan", "terraform refresh", "terraform apply -auto-approve", "terraform plan -out tf.plan", "terraform destroy") + p.pick("", " -input=false", " -no-color", " -target=module."+p.word(), " -parallelism=1")
		entries = append(entries, p.shell(command, output, 1))
	}
	return entries, 1
}

// tableDenied asks for a table in other ways and may not read it.
func tableDenied(p *generator) (entries []entry, _ int) {
	table := p.word() + "_" + p.word()
	for range p.between(5, 9) {
		query := p.pick("SELECT * FROM ", "SELECT count(*) FROM ", "SELECT id FROM public.", "TABLE ", "EXPLAIN SELECT * FROM ") + table + p.pick("", " LIMIT 5", " WHERE id = "+fmt.Sprint(p.between(1, 99)), " ORDER BY "+p.word())
		entries = append(entries, p.shell("psql -c '"+query+"'", "ERROR:  permission denied for table "+table, 1))
	}
	return entries, 1
}

// crashInspectedAgain looks at the pods, the events and the log of a crash in turn; ages and counts alone move.
func crashInspectedAgain(p *generator) (entries []entry, _ int) {
	pod, why := fmt.Sprintf("%s-%x", p.word(), p.IntN(1<<20)), p.phrase(4, 7)
	for k := range p.between(4, 6) {
		entries = append(entries,
			p.shell("kubectl get pods", fmt.Sprintf("NAME      READY   STATUS             RESTARTS        AGE\n%s   0/1     CrashLoopBackOff   7 (%dm ago)   %dm", pod, p.between(1, 4), 3*k+11), 0),
			p.shell("kubectl describe pod "+pod+" | tail -4", fmt.Sprintf("  Normal   Pulled   %dm (x8 over 21m)  kubelet  Container image already present\n  Warning  BackOff  %ds (x90 over 20m)  kubelet  Back-off restarting failed container", 2*k+1, p.between(2, 58)), 0),
			p.shell("kubectl logs "+pod+" --tail=3", "panic: "+why+"\n\ngoroutine 1 [running]:\nmain.main()", 0))
	}
	return entries, 3
}

// hostUnreachable tries one host by other programs and ports.
func hostUnreachable(p *generator) (entries []entry, _ int) {
	host := fmt.Sprintf("10.%d.%d.%d", p.IntN(250), p.IntN(250), p.between(2, 250))
	for range p.between(6, 9) {
		port := p.between(20, 9000)
		entries = append(entries, []entry{
			p.shell(fmt.Sprintf("ssh -p %d deploy@%s", port, host), fmt.Sprintf("ssh: connect to host %s port %d: Connection timed out", host, port), 255),
			p.shell(fmt.Sprintf("nc -zv -w 3 %s %d", host, port), fmt.Sprintf("nc: connect to %s port %d (tcp) failed: Connection timed out", host, port), 1),
			p.shell(fmt.Sprintf("curl -m 5 http://%s:%d/", host, port), fmt.Sprintf("curl: (28) Failed to connect to %s port %d after %d ms: Connection timed out", host, port, p.between(4900, 5100)), 28),
			p.shell(fmt.Sprintf("scp -P %d app.tar deploy@%s:/srv", port, host), fmt.Sprintf("ssh: connect to host %s port %d: Connection timed out\nscp: Connection closed", host, port), 255),
		}[p.IntN(4)])
	}
	return entries, 1
}

// migrationDirty migrates in other ways a database that a failed migration has left half done.
func migrationDirty(p *generator) (entries []entry, _ int) {
	version, name := p.between(3, 90), p.word()
	for range p.between(5, 9) {
		command := p.pick("migrate -path db up", "migrate -path db up 1", "make migrate", "migrate -verbose -path ./db up", "go run ./cmd/migrate up", "migrate -path db goto "+fmt.Sprint(version+1))
		entries = append(entries, p.shell(command, fmt.Sprintf("%s connecting to %s\nerror: Dirty database version %d. Fix and force version.", p.clock(), name, version), 1))
	}
	return entries, 1
}

// deviceNotListed looks for a telephone that is not connected.
func deviceNotListed(p *generator) (entries []entry, _ int) {
	app := p.word()
	for range p.between(6, 9) {
		entries = append(entries, []entry{
			p.shell("adb install -r "+app+".apk", "adb: failed to install "+app+".apk: error: no devices/emulators found", 1),
			p.shell("adb shell am start -n com."+app+"/.Main", "error: no devices/emulators found", 1),
			p.shell("adb -d logcat -t "+fmt.Sprint(p.between(10, 500)), "- waiting for device -\nerror: no devices/emulators found", 1),
			p.shell("adb kill-server && adb start-server && adb shell getprop", "* daemon not running; starting now\n* daemon started successfully\nerror: no devices/emulators found", 1),
		}[p.IntN(4)])
	}
	return entries, 1
}

// signatureRefused signs a request in other ways, and the service refuses each.
func signatureRefused(p *generator) (entries []entry, _ int) {
	resource := p.word()
	for range p.between(5, 8) {
		args := object("method", "PUT", "url", "https://store.example/"+resource, "headers", p.shuffled("host", "date: "+p.clock(), "digest: "+p.uuid(), "content-type: "+p.pick("text/plain", "application/json", "application/octet-stream"))[:p.between(2, 4)])
		entries = append(entries, call("http_request", args, object("status", 403, "body", "<Error><Code>SignatureDoesNotMatch</Code><Message>The request signature we calculated does not match the signature you provided. Check your key and signing method.</Message><RequestId>"+p.uuid()+"</RequestId></Error>")))
	}
	return entries, 1
}

// logsQueriedAgain words a query of logs anew, and reads the same lines with another query id.
func logsQueriedAgain(p *generator) (entries []entry, _ int) {
	service, lines := p.word(), make([]string, 4)
	for k := range lines {
		lines[k] = p.clock() + " level=" + p.pick("warn", "error") + " msg=\"" + p.phrase(4, 8) + "\""
	}
	for range p.between(6, 9) {
		query := "{service=\"" + service + "\"} " + p.pick("|= ", "|~ ", "!= ") + "\"" + p.word() + "\"" + p.pick("", " | logfmt", " | json", " | line_format \"{{.msg}}\"")
		entries = append(entries, call("query_logs", object("query", query, "limit", p.pick("50", "100", "500")), object("query_id", p.uuid(), "took_ms", p.between(10, 900), "lines", p.shuffled(slices.Clone(lines)...))))
	}
	return entries, 1
}

// portInUse starts a server in other ways while another one has its port.
func portInUse(p *generator) (entries []entry, _ int) {
	port := p.between(3000, 9000)
	for range p.between(5, 8) {
		command := p.pick("npm start", "npm run dev", "node server.js", "PORT="+fmt.Sprint(port)+" node server.js", "npx nodemon server.js", "yarn start --host 0.0.0.0")
		entries = append(entries, p.shell(command, fmt.Sprintf("> node server.js\n\nnode:events:%d\n      throw er; // Unhandled 'error' event\n\nError: listen EADDRINUSE: address already in use :::%d\n    at Server.setupListenHandle [as _listen2] (node:net:%d:16)", p.between(400, 500), port, p.between(1700, 1900)), 1))
	}
	return entries, 1
}
