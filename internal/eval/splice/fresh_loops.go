package splice

import (
	"fmt"
	"slices"
	"strings"
)

// The loops of this file were written before the meter was changed for those of later_loops.go, to report on.

func freshLoops() []kind {
	return []kind{
		{name: "migration_dirty", build: migrationDirty},
		{name: "device_not_listed", build: deviceNotListed},
		{name: "signature_refused", build: signatureRefused},
		{name: "chart_redrawn", build: chartRedrawn},
		{name: "same_slots_offered", build: sameSlotsOffered},
		{name: "logs_queried_again", build: logsQueriedAgain},
		{name: "port_in_use", build: portInUse},
		{name: "formula_broken", build: formulaBroken},
		{name: "delegated_again", build: delegatedAgain},
		{name: "menu_opened_and_closed", build: menuOpenedAndClosed},
	}
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

// chartRedrawn draws the same numbers with other settings, and cannot see the picture.
func chartRedrawn(p *generator) (entries []entry, _ int) {
	frame, x, y := p.word(), p.word(), p.word()
	for range p.between(6, 9) {
		code := fmt.Sprintf("%s.plot(x='%s', y='%s', kind='%s', color='%s')\nplt.title('%s')\nplt.show()", frame, x, y, p.pick("line", "bar", "area"), p.pick("red", "navy", "green", "black"), p.phrase(1, 3))
		entries = append(entries, call("run_cell", object("code", code), quoted("<Figure size 640x480 with 1 Axes>")))
	}
	return entries, 1
}

// sameSlotsOffered asks for an appointment in other words, and is offered the same ones.
func sameSlotsOffered(p *generator) (entries []entry, _ int) {
	slots := make([]string, 3)
	for k := range slots {
		slots[k] = fmt.Sprintf("%s %d:%02d with Dr %s", p.pick("Monday", "Tuesday", "Thursday"), p.between(8, 16), 15*p.IntN(4), p.word())
	}
	for range p.between(5, 8) {
		wish := p.pick("earliest", "any time", "as soon as possible", "next free", "this week") + p.pick("", " for a check-up", " with any doctor", ", mornings preferred")
		entries = append(entries, call("find_appointments", object("wish", wish, "days_ahead", p.between(3, 30)), object("slots", p.shuffled(slices.Clone(slots)...))))
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

// formulaBroken writes one cell in other ways, and reads that its formula is broken.
func formulaBroken(p *generator) (entries []entry, _ int) {
	sheet, cell := p.word(), fmt.Sprintf("%c%d", 'B'+rune(p.IntN(8)), p.between(2, 40))
	for range p.between(5, 8) {
		formula := p.pick("=VLOOKUP(", "=INDEX(", "=XLOOKUP(", "=SUMIF(", "=LOOKUP(") + p.word() + "!A:" + p.pick("C", "D", "F") + ", " + p.pick("2", "3", "A2") + ")"
		entries = append(entries, call("set_cell", object("sheet", sheet, "cell", cell, "formula", formula), object("cell", cell, "value", "#REF!")))
	}
	return entries, 1
}

// delegatedAgain hands the same task to a helper in other words, which reports the same.
func delegatedAgain(p *generator) (entries []entry, _ int) {
	topic, report := p.phrase(2, 3), p.page()
	for range p.between(4, 7) {
		prompt := p.pick("Find out all about ", "Please research ", "Look into ", "Do a deep search on ") + topic + p.pick(" and report back.", " and list what you find.", ", be thorough.", " with sources.")
		entries = append(entries, call("Task", object("description", "Research "+topic, "prompt", prompt), quoted(p.pick("Here is what I found:\n", "Summary of findings:\n", "I have finished the research.\n")+report)))
	}
	return entries, 1
}

// menuOpenedAndClosed opens a menu and closes it again; the references are new each time.
func menuOpenedAndClosed(p *generator) (entries []entry, _ int) {
	title, items := p.phrase(1, 2), p.words(5)
	ref := func() string { return fmt.Sprintf("e%d", p.between(10, 9999)) }
	for range p.between(4, 6) {
		open := "Page: " + title + "\n- button \"Menu\" [expanded] [ref=" + ref() + "]\n"
		for _, item := range items {
			open += "- menuitem " + item + " [ref=" + ref() + "]\n"
		}
		shut := "Page: " + title + "\n- button \"Menu\" [collapsed] [ref=" + ref() + "]\n- heading " + strings.Join(items[:2], " ") + " [ref=" + ref() + "]\n"
		entries = append(entries, call("browser_click", object("element", "Menu button", "ref", ref()), quoted(open)),
			call("browser_press_key", object("key", p.pick("Escape", "Escape", "Tab")), quoted(shut)))
	}
	return entries, 2
}
