package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work at reports: one database, one year, one transcript or one section after the other.

func dossierLookalikes() []kind {
	return []kind{
		{name: "query_run_in_each_database", build: queryRunInEachDatabase},
		{name: "archive_searched_year_by_year", build: archiveSearchedYearByYear},
		{name: "interviews_coded_in_turn", build: interviewsCodedInTurn},
		{name: "draft_cut_section_by_section", build: draftCutSectionBySection},
	}
}

// study is a paper in a database.
type study struct {
	title, doi string
	year       int
}

func (p *generator) study() study {
	return study{capitalized(p.phrase(5, 9)), fmt.Sprintf("10.%d/%s.%d", p.between(1000, 9999), p.word(), p.between(1000, 99_999)), p.between(2004, 2026)}
}

// queryRunInEachDatabase runs one query in one database after the other. Many hits are known, and the list of studies grows by the others.
func queryRunInEachDatabase(p *generator) (entries []entry, _ int) {
	query, known := p.word()+" AND ("+p.word()+" OR "+p.word()+")", []study{}
	databases := p.shuffled("pubmed", "semantic_scholar", "arxiv", "crossref", "openalex", "europe_pmc", "scopus", "web_of_science", "dblp", "ssrn", "core", "doaj")[:p.between(6, 11)]
	byServer, lists := p.coin(), p.IntN(3) > 0
	w := wording{
		[]string{"I'll run the query in each database.", "Let me start with `" + databases[0] + "`."},
		[]string{"Some of these are new.", "Mostly known ones.", "Much overlap.", "A few more.", ""},
		[]string{"Next: `%s`.", "Now `%s`.", "The same query in `%s`.", "On to `%s`."},
	}
	for k, database := range databases {
		var hits []study
		for _, one := range known {
			if p.coin() {
				hits = append(hits, one)
			}
		}
		fresh := p.between(0, 4)
		if k == 0 {
			fresh = p.between(3, 9)
		}
		for range fresh {
			one := p.study()
			hits, known = append(hits, one), append(known, one)
		}
		p.Shuffle(len(hits), func(i, j int) { hits[i], hits[j] = hits[j], hits[i] })
		text := fmt.Sprintf("Found %d papers\n", len(hits))
		for n, hit := range hits {
			text += fmt.Sprintf("%d. %s (%d). doi:%s\n", n+1, hit.title, hit.year, hit.doi)
		}
		e := call("search_"+database, object("query", query, "limit", 50), content(strings.TrimSpace(text)))
		if byServer {
			e = call("search_papers", object("source", database, "query", query, "max_results", 50), quoted(strings.TrimSpace(text)))
		}
		entries = append(entries, e.after(w.nextOf(p, k, database)))
		if lists {
			entries = append(entries, call("add_to_library", object("collection", "screening", "source", database, "items", len(hits)), object("added", fresh, "duplicates", len(hits)-fresh, "total", len(known))).after(thought{"", p.pick("Add them to the library.", "Into the list, without duplicates.", "")}))
		}
	}
	return entries, 0
}

// archiveSearchedYearByYear searches an archive for one name, year after year; most years have nothing.
func archiveSearchedYearByYear(p *generator) (entries []entry, _ int) {
	name, first, form := capitalized(p.word())+" "+p.pick("Company", "Bridge", "Mill", "Railway", "Theatre"), p.between(1870, 1930), p.IntN(3)
	w := wording{
		[]string{"I'll search the archive year by year.", "Let me begin with the year " + fmt.Sprint(first) + "."},
		[]string{"Nothing in that year.", "No mention.", "No hits.", "Nothing.", ""},
		[]string{"Next: %s.", "Now %s.", "Then %s.", "On to %s."},
	}
	found, mentions := false, 0
	for k := range p.between(7, 18) {
		year := first + k
		t := w.nextOf(p, k, fmt.Sprint(year))
		if found {
			t.seen = p.pick("A mention. I'll keep it.", "Here it is named.", "Good, that one counts.")
		}
		hits := []string{}
		if found = p.IntN(5) == 0; found {
			for range p.between(1, 3) {
				hits = append(hits, fmt.Sprintf("%s Gazette, %d-%02d-%02d, p. %d: \"... %s %s %s ...\"", capitalized(p.word()), year, p.between(1, 12), p.between(1, 28), p.between(1, 12), p.phrase(3, 6), name, p.phrase(3, 8)))
				mentions++
			}
		}
		var e entry
		switch form {
		case 0:
			e = call("search_newspapers", object("q", "\""+name+"\"", "date_from", fmt.Sprintf("%d-01-01", year), "date_to", fmt.Sprintf("%d-12-31", year)), object("total", len(hits), "items", hits))
		case 1:
			text := "No results found."
			if found {
				text = strings.Join(hits, "\n")
			}
			e = call("web_fetch", object("url", fmt.Sprintf("https://archive.example/search?q=%%22%s%%22&year=%d", strings.ReplaceAll(name, " ", "+"), year), "prompt", "List all hits"), quoted(text))
		case 2:
			text := fmt.Sprintf("%d: 0 pages matched", year)
			if found {
				text = fmt.Sprintf("%d: %d pages matched\n%s", year, len(hits), strings.Join(hits, "\n"))
			}
			e = call("archive_query", object("phrase", name, "year", year), content(text))
		}
		entries = append(entries, e.after(t))
	}
	return append(entries, say(fmt.Sprintf("The archive names the %s %d times in these years.", name, mentions))), 0
}

// interviewsCodedInTurn reads one transcript after the other and marks its passages with codes; the codes are mostly the same.
func interviewsCodedInTurn(p *generator) (entries []entry, _ int) {
	codes, coder := p.distinctWords(p.between(6, 12)), p.pick("coder", "analyst", "research_assistant")
	used, number := p.between(2, 4), p.between(1, 30)
	asAgent := p.IntN(3) == 0
	by := func(e entry) entry {
		if asAgent {
			return e.by(coder)
		}
		return e
	}
	last := ""
	for range p.between(5, 10) {
		number += p.between(1, 3)
		id := fmt.Sprintf("P%02d", number)
		t := p.nextItem(last, "the transcript of "+id)
		last = "the transcript of " + id
		text := fmt.Sprintf("Interview %s, %d minutes", id, p.between(20, 90))
		for range p.between(3, 16) {
			text += "\n" + p.pick("I: ", "R: ") + capitalized(p.phrase(6, 16)) + p.pick(".", "?", ".")
		}
		entries = append(entries, by(call("read_document", object("path", "transcripts/"+id+".txt"), quoted(text))).after(t))
		if used < len(codes) && p.IntN(3) == 0 {
			entries = append(entries, by(call("add_code", object("name", codes[used], "definition", capitalized(p.phrase(4, 9))+"."), object("ok", true, "codes", used+1))).after(thought{"That does not fit a code yet.", "I'll add one."}))
			used++
		}
		marks := []string{}
		for n := range p.between(1, 4) {
			marks = append(marks, fmt.Sprintf("%s: lines %d-%d", p.pick(codes[:used]...), 4*n+1, 4*n+p.between(1, 4)))
		}
		entries = append(entries, by(call("code_passages", object("document", id, "passages", marks), object("ok", true, "document", id))).after(thought{"", p.pick("Mark the passages.", "These passages get codes.", "")}))
	}
	return entries, 0
}

// draftCutSectionBySection shortens one section of a report after the other and counts its words; the count falls to the limit.
func draftCutSectionBySection(p *generator) (entries []entry, _ int) {
	h, file, limit := p.patientHarness(), p.pick("report", "paper", "proposal", "chapter")+p.pick(".md", ".tex", ".typ"), p.pickInt(2000, 3000, 4000, 5000)
	sections := p.shuffled("Introduction", "Background", "Related work", "Methods", "Data", "Results", "Discussion", "Limitations", "Outlook", "Conclusion", "Ethics", "Funding")[:p.between(5, 10)]
	words, long, short := limit-p.between(2, 60), make([]string, len(sections)), make([]string, len(sections))
	for k := range sections {
		passage := p.sentences(p.between(4, 14))
		long[k], short[k] = strings.Join(passage, " "), strings.Join(passage[:p.between(1, 2)], " ")
		words += len(strings.Fields(long[k])) - len(strings.Fields(short[k]))
	}
	w := wording{
		[]string{fmt.Sprintf("The report has %d words and may have %d. I'll cut it, section by section.", words, limit), "Let me shorten the sections in turn."},
		[]string{"Shorter.", "That helped.", "Still above the limit.", "Getting closer.", ""},
		[]string{"Next: \"%s\".", "Now \"%s\".", "Then \"%s\".", "On to \"%s\"."},
	}
	for k, section := range sections {
		words -= len(strings.Fields(long[k])) - len(strings.Fields(short[k]))
		entries = append(entries, h.replace(file, long[k], short[k]).after(w.nextOf(p, k, section)),
			h.shell("wc -w "+file, fmt.Sprintf("%d %s", words, file), 0).after(thought{"", p.pick("How many words are left?", "Count.", "And the length?", "")}))
	}
	return append(entries, say(fmt.Sprintf("The report has %d words now, which is within the limit of %d.", words, limit))), 0
}
