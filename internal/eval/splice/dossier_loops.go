package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that read papers and write reports, alone or with an editor.

func dossierLoops() []kind {
	return []kind{
		{name: "report_refused_for_length", build: reportRefusedForLength},
		{name: "table_lost_in_extraction", build: tableLostInExtraction},
		{name: "citations_stay_undefined", build: citationsStayUndefined},
		{name: "draft_swings_round_word_limit", build: draftSwingsRoundWordLimit},
	}
}

// sentences returns n sentences of a report.
func (p *generator) sentences(n int) []string {
	all := make([]string, n)
	for k := range all {
		all[k] = capitalized(p.pick("the ", "each ", "one ", "in most cases the ", "after the first year the ")+p.phrase(2, 5)) + " " + p.pick("depends on", "is followed by", "exceeds", "explains", "differs from", "was reported with", "declines with") + " the " + p.phrase(2, 5) + p.pick(".", ", as the survey shows.", " (see table 2).", ".")
	}
	return all
}

// draft returns sentences in their order, without some of them, until their text has so many characters.
func (p *generator) draft(of []string, characters int) string {
	text := ""
	for k := 0; len(text) < characters; k = (k + 1) % len(of) {
		if p.IntN(4) > 0 {
			text += of[k] + " "
		}
	}
	return strings.TrimSpace(text)
}

// reportRefusedForLength saves a report as one long block. The service names its limit, and the agent rewrites the report at about that length.
func reportRefusedForLength(p *generator) (entries []entry, _ int) {
	title, parent, form := capitalized(p.phrase(2, 4)), p.uuid(), p.IntN(3)
	limit := []int{2000, 2000, 1500}[form]
	sentences := p.sentences(45)
	headings := p.shuffled("Summary", "Findings", "Overview", "Key results", "Background and findings")
	w := wording{
		[]string{"The research is done. I'll save the report.", "Let me store the report now.", "Now I write it into the workspace."},
		[]string{"The request was not valid.", "It was rejected again.", "Validation failed.", "The length is still a problem.", "It still does not accept the block.", ""},
		[]string{"Let me rewrite it more concisely.", "I'll restructure the block.", "Let me try it with another title.", "Let me shorten it a bit.", "I'll format the text differently.", "Let me save it in another form."},
	}
	for k := range p.rounds(4) {
		text := p.draft(sentences, limit+p.between(60, 700))
		if heading := p.pick(headings...); p.coin() {
			text = heading + "\n\n" + text
		}
		var e entry
		switch form {
		case 0:
			kind := p.pick("paragraph", "paragraph", "quote", "callout", "bulleted_list_item")
			block := jsonOf(map[string]any{"object": "block", "type": kind, kind: map[string]any{"rich_text": []any{map[string]any{"type": "text", "text": map[string]any{"content": text}}}}})
			e = call("API-post-page", object("parent", object("page_id", parent), "properties", object("title", p.pick(title, title+" - report", "Report: "+title)), "children", []any{block}), content(fmt.Sprintf("{\"object\":\"error\",\"status\":400,\"code\":\"validation_error\",\"message\":\"body failed validation: body.children[0].%s.rich_text[0].text.content.length should be ≤ `2000`, instead was `%d`.\",\"request_id\":\"%s\"}", kind, len(text), p.uuid())))
		case 1:
			e = failed("send_message", object("channel_id", fmt.Sprint(len(title)*7919+100_000_000), "content", "**"+title+"**\n"+text), fmt.Sprintf("400 Bad Request: {\"message\":\"Invalid Form Body\",\"code\":50035,\"errors\":{\"content\":{\"_errors\":[{\"code\":\"BASE_TYPE_MAX_LENGTH\",\"message\":\"Must be 2000 or fewer in length.\"}]}},\"length\":%d}", len(text)+len(title)+5))
		case 2:
			e = call("create_note", object("title", p.pick(title, title+" (report)"), "body", text, "folder", p.pick("Research", "Reports")), object("ok", false, "error", object("code", "NOTE_TOO_LONG", "max_characters", limit, "characters", len(text))))
		}
		entries = append(entries, e.after(w.early(p, k)))
	}
	return entries, 1
}

// tableLostInExtraction reads a table of a paper with other libraries and settings; all give no table, or the same run-together line.
func tableLostInExtraction(p *generator) (entries []entry, _ int) {
	run, file, page := p.commands(), "papers/"+p.word()+fmt.Sprint(p.between(2015, 2026))+".pdf", p.between(2, 30)
	joined := ""
	for range p.between(3, 9) {
		joined += capitalized(p.word()) + fmt.Sprintf("%d.%d%d.%d%d(%d.%d)", p.between(1, 99), p.IntN(10), p.between(1, 99), p.IntN(10), p.between(10, 999), p.IntN(9), p.IntN(10))
	}
	python := func(code string) string { return "python3 - <<'EOF'\n" + code + "\nEOF" }
	ways := []func() (string, string){
		func() (string, string) {
			return python(fmt.Sprintf("import pdfplumber\nwith pdfplumber.open('%s') as pdf:\n    page = pdf.pages[%d]\n    print(page.extract_tables(table_settings={'vertical_strategy': '%s', 'horizontal_strategy': '%s', 'snap_tolerance': %d}))", file, page-1, p.pick("lines", "text", "lines_strict"), p.pick("lines", "text", "lines_strict"), p.between(1, 9))), "[]"
		},
		func() (string, string) {
			return python(fmt.Sprintf("import camelot\ntables = camelot.read_pdf('%s', pages='%d', flavor='%s'%s)\nprint(tables)", file, page, p.pick("lattice", "stream"), p.pick("", ", row_tol=10", ", edge_tol=500", ", line_scale=40"))), "<TableList n=0>"
		},
		func() (string, string) {
			return python(fmt.Sprintf("import tabula\ndfs = tabula.read_pdf('%s', pages=%d, %s)\nprint(len(dfs), dfs)", file, page, p.pick("lattice=True", "stream=True", "guess=False", "multiple_tables=True"))), "0 []"
		},
		func() (string, string) {
			return fmt.Sprintf("pdftotext %s -f %d -l %d %s - | grep -A12 'Table 2'", p.pick("-layout", "-raw", "-table", "-fixed 4"), page, page, file), "Table 2: Results by group\n" + joined
		},
		func() (string, string) {
			return python(fmt.Sprintf("import fitz\npage = fitz.open('%s')[%d]\nprint(page.find_tables(strategy='%s').tables)\nprint(page.get_text('%s')[-%d:])", file, page-1, p.pick("lines", "text", "lines_strict"), p.pick("text", "words", "blocks"), len(joined))), "[]\n" + joined
		},
	}
	w := wording{
		[]string{"I need the numbers of table 2, so I extract it.", "Let me extract the table on page " + fmt.Sprint(page) + "."},
		[]string{""},
		[]string{"Let me try another library.", "I'll change the settings.", "Let me try it with the other strategy.", "Maybe another flavor works.", "Let me extract it in another way.", "I'll adjust the tolerances."},
	}
	order, last := p.Perm(len(ways)), ""
	empty := ways[p.IntN(3)]
	for k := range p.rounds(6) {
		t := w.of(p, k)
		if strings.Contains(last, joined) {
			t.seen = p.pick("The columns are lost.", "The same text without columns.", "The values run together.", "")
		} else if k > 0 {
			t.seen = p.pick("No table was found.", "That gives no table.", "Still no table.", "Empty.", "")
		}
		command, output := ways[order[k%3]]()
		if k < 2 {
			command, output = empty()
		}
		entries, last = append(entries, run(command, output, 0).after(t)), output
	}
	return entries, 1
}

// citing is a document whose citations are not in the list of references that it reads.
type citing struct {
	file     string
	commands []string
	log      func() string
	fixes    [][2]string // texts of the document that say where the references are, before and after
	probes   [][2]string // commands, and what they print
	status   int
}

func (p *generator) citing() citing {
	keys := []string{}
	for _, word := range p.distinctWords(p.between(2, 6)) {
		keys = append(keys, word+fmt.Sprint(p.between(1998, 2025)))
	}
	doc, pages := p.pick("report", "paper", "main", "review"), p.between(3, 40)
	grep := [2]string{"grep -c '@' refs.bib", fmt.Sprint(len(keys) + pages)}
	if p.coin() {
		return citing{
			doc + ".tex",
			[]string{"pdflatex -interaction=nonstopmode " + doc, "latexmk -pdf -interaction=nonstopmode " + doc + ".tex", "pdflatex " + doc + " && bibtex " + doc + " && pdflatex " + doc, "latexmk -C && latexmk -pdf " + doc + ".tex"},
			func() string {
				text := fmt.Sprintf("This is pdfTeX, Version 3.141592653-2.6-1.40.25 (TeX Live 2023) (preloaded format=pdflatex)\nentering extended mode\n(./%s.tex\nLaTeX2e <2023-11-01> patch level 1\n(/usr/share/texlive/texmf-dist/tex/latex/base/article.cls)\nNo file %s.bbl.\n", doc, doc)
				for k, key := range keys {
					text += fmt.Sprintf("\nLaTeX Warning: Citation `%s' on page %d undefined on input line %d.\n", key, 1+k, 30+17*k)
				}
				for k := range pages {
					text += fmt.Sprintf("[%d]", k+1)
				}
				return text + fmt.Sprintf("\nLaTeX Warning: There were undefined references.\n\nOutput written on %s.pdf (%d pages, %d bytes).\nTranscript written on %s.log.", doc, pages, 90_000+len(keys)*811+p.IntN(40), doc)
			},
			[][2]string{{"\\bibliography{refs}", "\\bibliography{refs.bib}"}, {"\\bibliography{refs.bib}", "\\bibliography{./refs}"}, {"\\bibliographystyle{plain}", "\\bibliographystyle{unsrt}"}, {"\\usepackage{cite}", "\\usepackage[numbers]{natbib}"}, {"\\bibliographystyle{unsrt}", "\\bibliographystyle{plain}"}},
			[][2]string{grep, {"bibtex " + doc, "This is BibTeX, Version 0.99d (TeX Live 2023)\nThe top-level auxiliary file: " + doc + ".aux\nI found no \\bibdata command---while reading file " + doc + ".aux\n(There was 1 error message)"}, {"ls *.bib *.bbl *.aux", "refs.bib  " + doc + ".aux"}, {"rm -f " + doc + ".aux " + doc + ".bbl " + doc + ".blg", ""}},
			0,
		}
	}
	return citing{
		doc + ".md",
		[]string{"pandoc " + doc + ".md --citeproc -o " + doc + ".pdf", "pandoc " + doc + ".md --citeproc --bibliography=refs.bib -o " + doc + ".docx", "quarto render " + doc + ".md", "pandoc -s " + doc + ".md -C -o " + doc + ".html"},
		func() string {
			text := ""
			for _, key := range p.shuffled(append([]string(nil), keys...)...) {
				text += "[WARNING] Citeproc: citation " + key + " not found\n"
			}
			return strings.TrimSpace(text)
		},
		[][2]string{{"bibliography: refs.bib", "bibliography: ./refs.bib"}, {"bibliography: ./refs.bib", "bibliography: [refs.bib]"}, {"csl: apa.csl", "csl: ieee.csl"}, {"---\ntitle:", "---\nlink-citations: true\ntitle:"}, {"bibliography: [refs.bib]", "bibliography: refs.bib"}},
		[][2]string{grep, {"ls *.bib *.csl", "apa.csl  ieee.csl  refs.bib"}, {"head -3 refs.bib", "@article{" + capitalized(keys[0]) + "a,\n  title = {" + capitalized(p.phrase(3, 6)) + "},\n  year = {2019},"}, {"pandoc --version | head -1", "pandoc 3.1.11"}},
		0,
	}
}

// citationsStayUndefined renders a document again after small changes; the same citations are undefined each time.
func citationsStayUndefined(p *generator) (entries []entry, _ int) {
	h, c := p.harness(), p.citing()
	w := wording{
		[]string{"Let me render the document.", "The text is written. I'll build it."},
		[]string{"The citations are still undefined.", "Same warnings.", "The references don't resolve.", "It still prints question marks for the sources.", ""},
		[]string{"Let me build it again.", "I'll run it once more with the bibliography.", "Another run may resolve them."},
	}
	build := func() entry { return h.shell(p.pick(c.commands...), c.log(), c.status) }
	entries = append(entries, build().after(w.of(p, 0)))
	for k := range p.rounds(3) {
		t := w.of(p, k+1)
		if k == 0 {
			t.seen = p.pick("Some citations are undefined.", "There are warnings about citations.", "")
		}
		if k == 0 || p.IntN(5) < 3 {
			fix := c.fixes[k%len(c.fixes)]
			t.next = p.pick("Let me change how it refers to the list.", "Perhaps this line is the problem.", "Let me adjust the document.", "I'll fix the reference to the bibliography.")
			entries = append(entries, h.replace(c.file, fix[0], fix[1]).after(t))
			t = thought{"", p.pick("Build it again.", "Now render.", "Let me see whether they resolve.", "")}
		} else if p.coin() {
			probe := c.probes[p.IntN(len(c.probes))]
			t.next = p.pick("Let me check the bibliography.", "What is there?", "Let me look at the files.")
			entries = append(entries, h.shell(probe[0], probe[1], 0).after(t))
			t = thought{"", p.pick("Build it again.", "Once more.", "Now render.", "")}
		}
		entries = append(entries, build().after(t))
	}
	return entries, 2
}

// draftSwingsRoundWordLimit cuts a text that is too long until it is too short, and lengthens it until it is too long.
func draftSwingsRoundWordLimit(p *generator) (entries []entry, _ int) {
	least := p.pickInt(90, 120, 140, 180)
	most, sentences := least+p.pickInt(5, 10), p.sentences(40)
	writer, editor := p.pick("writer", "Writer", "author"), p.pick("editor", "Editor", "reviewer")
	crew, file := p.coin(), p.word()+"_"+p.pick("abstract", "section", "brief", "summary")+".md"
	w := wording{
		[]string{"I'll write the text.", "Here is my first version.", "Let me draft it."},
		[]string{"The length is not right yet.", "That missed the range.", "Outside the limits again.", "Not within the range.", ""},
		nil,
	}
	long := p.coin()
	for k := range p.rounds(5) {
		words, does, verdict := least-p.between(least/8, least/4), p.pick("Let me cut it.", "I'll tighten the text.", "Let me remove some details.", "Now shorter."), fmt.Sprintf("below the minimum of %d", least)
		if long {
			words, does, verdict = most+p.between(most/8, most/4), p.pick("Let me add detail.", "I'll expand it.", "Let me elaborate on the findings.", "Now longer."), fmt.Sprintf("above the maximum of %d", most)
		}
		long = !long
		body := strings.Join(strings.Fields(p.draft(sentences, 12*words))[:words], " ") + "."
		if crew {
			entries = append(entries, call("submit_draft", object("body", body, "version", k+1), object("draft", k+1, "words", words)).by(writer).after(w.then(p, k, does)),
				say(fmt.Sprintf(p.pick("The draft has %d words, %s. Please revise.", "%d words: %s. Back to you.", "Length: %d, %s. We cannot publish it like this."), words, verdict)).by(editor))
			continue
		}
		entries = append(entries, call("write_file", object("path", file, "content", body), quoted(fmt.Sprintf("Wrote %d bytes to %s", len(body), file))).after(w.then(p, k, does)),
			call("count_words", object("path", file, "min", least, "max", most), object("words", words, "within_limits", false, "detail", verdict)).after(thought{"", p.pick("Check the length.", "Is it within the range?", "Count the words.", "")}))
	}
	return entries, 4
}
