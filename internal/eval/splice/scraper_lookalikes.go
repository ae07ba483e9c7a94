package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of agents that browse pages and collect data: the same actions on pages that look alike.

func scraperLookalikes() []kind {
	return []kind{
		{name: "load_more_until_all_shown", build: loadMoreUntilAllShown},
		{name: "options_of_select_iterated", build: optionsOfSelectIterated},
		{name: "page_compared_across_snapshots", build: pageComparedAcrossSnapshots},
		{name: "statements_downloaded_by_month", build: statementsDownloadedByMonth},
	}
}

// loadMoreUntilAllShown clicks on the same button; each time the page has all entries that it had and some more, until the button is away.
func loadMoreUntilAllShown(p *generator) (entries []entry, _ int) {
	b, thing := p.browser(), p.pick("review", "event", "member", "comment", "release")
	label, step := p.pick("Load more", "Show more "+thing+"s", "View more"), p.between(3, 8)
	rounds := p.between(5, 9)
	total := rounds*step + p.between(1, step)
	role := p.pick("article", "listitem")
	at := page{"/" + thing + "s", capitalized(thing) + "s", []string{fmt.Sprintf("heading \"%d %ss\"", total, thing)}}
	more := func(n int) page {
		for range n {
			at.elements = append(at.elements, fmt.Sprintf("%s \"%s %s, %s\"", role, p.person(), capitalized(p.word()), p.phrase(2, 5)))
		}
		if shown := len(at.elements) - 1; shown < total {
			return at.with(fmt.Sprintf("text: Showing %d of %d", shown, total)).with("button \"" + label + "\"")
		}
		return at.with(fmt.Sprintf("text: Showing %d of %d", total, total))
	}
	w := wording{
		[]string{"There are more. Let me load them.", "The list is not complete yet."},
		[]string{"More entries are shown.", "Not all of them yet.", fmt.Sprintf("The next %d are there.", step), ""},
		[]string{"Let me load more.", "Click \"" + label + "\" again.", "On to the rest.", "Let me load the next ones."},
	}
	entries = append(entries, b.open(more(step)))
	for k := range rounds {
		n := step
		if k == rounds-1 {
			n = total - rounds*step
		}
		entries = append(entries, b.click(label, "", more(n)).after(w.of(p, k)))
	}
	return entries, 0
}

// optionsOfSelectIterated chooses one option of a list after the other and reads the table that the page shows for it.
func optionsOfSelectIterated(p *generator) (entries []entry, _ int) {
	b, label := p.browser(), p.pick("District", "Faculty", "Station", "Category", "Branch", "Line")
	rows, file := p.pickInt(2, 3, 3, 4, 5), p.pick("", p.word()+".csv")
	w := wording{
		[]string{"I go through the options of \"" + label + "\"."},
		[]string{"I have the figures.", "Noted.", "No figures for this one.", ""},
		[]string{"Next: %s.", "Now %s.", "Select %s."},
	}
	for k, option := range p.distinctWords(p.between(6, 12)) {
		option = capitalized(option)
		at := page{"/statistics", "Statistics", []string{"heading \"Statistics\"", "combobox \"" + label + "\": " + option, "button \"Export\""}}
		if p.IntN(5) == 0 {
			at = at.with("row \"No data available\"")
		} else {
			for n := range rows {
				at.elements = append(at.elements, fmt.Sprintf("row \"%d  %d  %d.%d %%\"", 2025-n, p.between(10, 99_000), p.IntN(100), p.IntN(10)))
			}
		}
		t := w.of(p, k)
		if k > 0 {
			t.next = fmt.Sprintf(t.next, option)
		} else {
			t.seen = ""
		}
		if t.seen == "No figures for this one." {
			t.seen = ""
		}
		place, ref := max(1, b.place(label)), b.ref
		var args json.RawMessage
		switch b.form {
		case 0:
			args = object("element", label, "ref", fmt.Sprintf("e%d", ref+2*place), "values", []string{option})
		case 1:
			args = object("index", place, "text", option)
		default:
			args = object("target", label, "value", option)
		}
		entries = append(entries, call([]string{"browser_select_option", "select_dropdown_option", "select"}[b.form], args, b.shown("☑️  Selected option "+option, at)).after(t))
		if file != "" {
			entries = append(entries, call("append_file", object("file_name", file, "content", option+";"+strings.NewReplacer("row ", "", "\"", "", "  ", ";").Replace(strings.Join(at.elements[3:], ";"))+"\n"), quoted("Data appended to file "+file+" successfully.")))
		}
	}
	return entries, 0
}

// pageComparedAcrossSnapshots fetches the stored copies of one page; most of the text stays, and a figure of it differs now and then.
func pageComparedAcrossSnapshots(p *generator) (entries []entry, _ int) {
	s, url := p.secretary(), "https://"+p.word()+"-"+p.word()+".example/"+p.pick("pricing", "plans", "terms", "about")
	fixed := []string{"# " + capitalized(p.word()) + " " + p.pick("plans", "pricing", "for teams"), capitalized(p.phrase(6, 12)) + ".", "## Starter", capitalized(p.phrase(3, 8)), "## Professional", capitalized(p.phrase(4, 9)), "Contact us for larger teams."}
	price, seats, year := p.between(5, 30), p.pickInt(3, 5, 10), p.between(2012, 2018)
	w := wording{
		[]string{"I compare the stored copies of the page, year by year.", "Let me see the oldest copy first."},
		[]string{"The price is the same in this copy.", "Something has changed here.", "I note the figures.", ""},
		[]string{"Let me look at the next copy.", "Now half a year later.", "Next snapshot.", "On to the following year."},
	}
	shell, run := p.coin(), p.commands()
	for k := range p.between(6, 10) {
		at := fmt.Sprintf("%d%02d%02d%02d%02d%02d", year+k/2, 1+6*(k%2)+p.IntN(5), p.between(1, 28), p.IntN(24), p.IntN(60), p.IntN(60))
		if p.IntN(3) == 0 {
			price += p.between(1, 4)
		}
		if p.IntN(5) == 0 {
			seats++
		}
		text := strings.Join(append(append([]string(nil), fixed[:4]...), fmt.Sprintf("$%d per month, up to %d seats", price, seats), fixed[4], fixed[5], fmt.Sprintf("$%d per month", 3*price+1), fixed[6], fmt.Sprintf("(c) %d", year+k/2)), "\n")
		archived := "https://web.archive.org/web/" + at + "/" + url
		e := s.use("fetch", "fetch", object("url", archived, "max_length", 5000), "Contents of "+archived+":\n"+text)
		if shell {
			e = run("curl -sL '"+archived+"' | html2text", text, 0)
		}
		t := w.of(p, k)
		if k > 0 && p.coin() {
			t.seen = fmt.Sprintf("$%d here.", price)
		} else {
			t.seen = ""
		}
		entries = append(entries, e.after(t))
	}
	return entries, 0
}

// statementsDownloadedByMonth chooses month after month, clicks on the same button, and now and then lists the files that have come.
func statementsDownloadedByMonth(p *generator) (entries []entry, _ int) {
	b, what := p.browser(), p.pick("statement", "invoice", "payslip", "usage report")
	year, number := p.between(2023, 2026), p.between(100_000, 900_000)
	months := strings.Fields("January February March April May June July August September October November December")
	listed, stem := p.pickInt(2, 3, 4), strings.ReplaceAll(what, " ", "-")
	files := ""
	last := ""
	for k, month := range months[:p.between(6, 12)] {
		number += p.between(1, 900)
		at := page{"/account/documents", "Documents", []string{"link \"Overview\"", "combobox \"Year\": " + fmt.Sprint(year)}}
		for _, other := range months {
			at.elements = append(at.elements, "link \""+other+"\"")
		}
		at = at.with("heading \"" + capitalized(what) + " of " + month + "\"").with(fmt.Sprintf("text: No. %d", number)).with("button \"Download PDF\"")
		file := fmt.Sprintf("%s-%d-%02d.pdf", stem, year, k+1)
		files += fmt.Sprintf("%6d %s\n", p.between(20_000, 400_000), file)
		b.elements = at.elements
		if b.ref == 0 {
			b.ref = p.between(3, 90)
		}
		entries = append(entries, b.click(month, "", at).after(p.nextItem(last, month)))
		saved := b.click("Download PDF", "", at)
		if b.form == 0 {
			saved.Result = content("### Result\n- Downloaded file " + file + " to /tmp/playwright-output/" + file)
		} else {
			saved.Result = quoted("📥  Downloaded file to /downloads/" + file)
		}
		entries = append(entries, saved)
		if (k+1)%listed == 0 {
			entries = append(entries, call("bash", object("command", "ls -s --block-size=1 /downloads"), quoted(strings.TrimSpace(files))).after(thought{"", p.pick("Which files do I have?", "Let me check the downloads.")}))
		}
		last = "the " + what + " of " + month
	}
	return entries, 0
}
