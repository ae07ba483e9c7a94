package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents that search and write reports.

func inquiryLoops() []kind {
	return []kind{
		{name: "same_hits_reordered", build: sameHitsReordered},
		{name: "script_shell_fetched", build: scriptShellFetched},
		{name: "same_chunks_retrieved", build: sameChunksRetrieved},
		{name: "remark_never_met", build: remarkNeverMet},
	}
}

// inquiry is a question, the ways to search for it, and what is found beside the point.
type inquiry struct {
	queries []string
	hits    [][2]string // titles and snippets
}

func (p *generator) inquiry() inquiry {
	town, year := p.pick("Aveiro", "Ghent", "Tartu", "Lugano", "Bergen", "Graz"), fmt.Sprint(p.between(1991, 2019))
	person, mineral := p.pick("Ada Lindqvist", "Paulo Meireles", "Ruth Okonkwo", "Henrik Brandt"), p.pick("lithium", "cobalt", "graphite",
		"tellurium")
	return []inquiry{
		{
			[]string{
				"tram line " + town + " opening year", town + " tramway history opened", "when did the tram in " + town + " open", town +
					" light rail inauguration date", "first tram " + town + " year of opening",
				"\"" + town + "\" tram \"opened in\"", town + " public transport tram start of service", "history of trams in " + town,
			},
			[][2]string{
				{town + " travel guide", "Getting around " + town + " is easy by tram and bus. A day ticket costs little."},
				{"Trams of Europe: a list", "A list of towns with trams, among them " + town + ", Basel and Riga."},
				{town + " transport fares", "Single tickets are valid for 60 minutes on trams and buses."},
				{
					"Hotels near the tram in " + town,
					"All hotels are within a short walk of a tram stop.",
				},
				{"Why towns love trams again", "Many towns have brought back the tram, says a study of 40 towns."},
			},
		},
		{
			[]string{
				person + " doctoral thesis title", "PhD thesis by " + person, person + " dissertation " + year, "\"" + person + "\" thesis", person +
					" university thesis repository", person + " PhD " + year + " supervisor title",
				"dissertation " + person + " pdf", person + " academic biography thesis",
			},
			[][2]string{
				{person + " | Speakers", person + " gave the opening talk of the congress in " + town + "."},
				{
					"Interview with " + person,
					"\"I never wanted to stay at one university\", says " + person + ".",
				},
				{person + " - publications", "Seven articles by " + person + " in journals, with citations."},
				{
					"Awards of " + year,
					"The prize of the society goes to " + person + " for long service.",
				},
				{"Department news", "We welcome " + person + " as a guest for the summer term."},
			},
		},
		{
			[]string{
				mineral + " output Portugal " + year + " tonnes", "how much " + mineral + " did Portugal mine in " + year, "Portugal " + mineral +
					" production statistics " + year, mineral + " mining Portugal annual tonnes",
				mineral + " extraction Iberia " + year, "USGS " + mineral + " Portugal " + year, "Portuguese mines " + mineral + " yearbook", mineral +
					" tonnage by country " + year,
			},
			[][2]string{
				{capitalized(mineral) + " price chart", "The price of " + mineral + " over the last ten years, updated daily."},
				{"What is " +
					mineral + "?", capitalized(mineral) + " is used in batteries, alloys and glass."},
				{"Mining in Portugal: overview", "Portugal has a long history of mining, from Roman gold to copper."},
				{capitalized(mineral) +
					" stocks to watch", "Five companies that investors like, and why."},
				{"Villagers protest against mine", "Some hundred people marched against plans for a new mine."},
			},
		},
	}[p.IntN(3)]
}

var searchingOn = wording{
	first: []string{"I search for it.", "Let me find a source for this."},
	seen: []string{
		"These results do not answer the question.", "None of these says what I need.", "The same pages again.",
		"Not what I need.", "The results are about other things.",
	},
	next: []string{
		"Let me phrase it differently.", "Let me try more specific terms.", "Let me search again with other words.",
		"Perhaps a broader search helps.", "Let me try another formulation.",
	},
}

// sameHitsReordered searches in ever other words and gets the same pages in another order.
func sameHitsReordered(p *generator) (entries []entry, _ int) {
	q, form := p.inquiry(), p.IntN(3)
	sites := make([]string, len(q.hits))
	for k := range sites {
		sites[k] = "https://" + p.word() + ".example/" + p.word() + "/" + fmt.Sprint(p.between(100, 99999))
	}
	for k, query := range p.shuffled(q.queries...)[:p.between(6, 8)] {
		order := p.Perm(len(q.hits))[:p.between(4, 5)]
		listed, text := make([]json.RawMessage, len(order)), ""
		for n, h := range order {
			listed[n] = object("title", q.hits[h][0], "url", sites[h], "content", q.hits[h][1], "score", float64(p.between(300, 900))/1000)
			text += fmt.Sprintf("%d. [%s](%s)\n   %s\n", n+1, q.hits[h][0], sites[h], q.hits[h][1])
		}
		e := []entry{
			call("tavily_search", object("query", query, "max_results", 5), object("query", query, "results", listed, "response_time",
				float64(p.between(40, 400))/100)),
			call("web_search", object("query", query), quoted(fmt.Sprintf("Found %d results for \"%s\" in %d ms:\n\n%s", len(order), query,
				p.between(100, 900), text))),
			call("WebSearch", object("query", query), quoted("Web search results for query: \""+query+"\"\n\n"+text)),
		}[form]
		entries = append(entries, e.after(searchingOn.of(p, k)))
	}
	return entries, 1
}

// scriptShellFetched fetches a page that is made by a script, by other addresses and other tools.
func scriptShellFetched(p *generator) (entries []entry, _ int) {
	host, path := p.word()+"data.example", "/"+p.pick("reports", "stats", "company", "dataset")+"/"+p.word()
	shell := p.pick("You need to enable JavaScript to run this app.", "Please enable JavaScript to continue using this application.",
		"Loading… If this takes long, check that JavaScript is enabled in your browser.")
	w := wording{
		first: []string{"The figures are on this page. Let me fetch it.", "Let me read the page."},
		seen: []string{
			"The page was not rendered.", "Only the frame of the page came back.", "It needs JavaScript.",
			"There is no content in it.",
		},
		next: []string{
			"Let me fetch it by another address.", "Let me try another version of the page.", "Perhaps another address returns the content.",
			"Let me fetch it in another form.", "Maybe there is a plain version of it.",
		},
	}
	variants := append([]string{"https://" + host + path}, p.shuffled(
		"https://www."+host+path, "https://m."+host+path, "https://"+host+path+"?view=print", "https://"+host+path+"/index.html",
		"http://"+host+path, "https://"+host+path+"?format=text", "https://"+host+path+"/amp", "https://"+host+path+"?output=1&lang=en",
	)...)
	tool, form := p.pick("fetch_url", "read_webpage", "WebFetch"), p.IntN(3)
	for k, url := range variants[:p.between(6, 9)] {
		body := []json.RawMessage{
			quoted(shell), object("url", url, "status", 200, "title", capitalized(strings.TrimSuffix(host, ".example")), "text", shell, "bytes",
				p.between(1800, 2600)),
			content(fmt.Sprintf("Contents of %s (fetched in %d ms):\n\n%s", url, p.between(80, 900), shell)),
		}[form]
		entries = append(entries, call(tool, object("url", url), body).after(w.of(p, k)))
	}
	return entries, 1
}

// sameChunksRetrieved asks a store of documents in other words, and it returns the same passages.
func sameChunksRetrieved(p *generator) (entries []entry, _ int) {
	topic := p.pick("parental leave for contractors", "the retention of call recordings", "meal allowances abroad",
		"the discount for schools", "the notice period in Austria")
	queries := p.shuffled(
		topic, "rules on "+topic, "What do our documents say about "+topic+"?", topic+" policy details", "exceptions to "+topic,
		"who decides on "+topic, topic+" limits and amounts", "section on "+topic, topic+" appendix",
	)
	chunks := p.shuffled(
		"This handbook applies to all employees. Questions go to the people team.",
		"Version history: 3.1 corrects spelling, 3.0 adds a table of contents.",
		"Travel is booked through the portal. Approval by the line manager is required.",
		"All data is handled in line with the privacy notice.", "For a glossary of terms see the last chapter.",
		"Working hours are agreed in the contract and may be flexible.",
	)[:p.between(3, 4)]
	sources := make([]string, len(chunks))
	for k := range sources {
		sources[k] = fmt.Sprintf("%s.pdf#page=%d", p.pick("handbook", "policies", "guide", "faq"), p.between(1, 80))
	}
	tool := p.pick("retrieve", "vector_search", "search_knowledge_base", "file_search")
	for k, query := range queries[:p.between(6, 9)] {
		found := make([]json.RawMessage, len(chunks))
		for n := range chunks {
			found[n] = object("source", sources[n], "text", chunks[n], "score", float64(p.between(5200-300*n, 5400-300*n))/10_000)
		}
		args := object("query", query)
		if p.coin() {
			args = object("query", query, "top_k", p.between(4, 12))
		}
		entries = append(entries, call(tool, args, object("matches", found)).after(searchingOn.of(p, k)))
	}
	return entries, 1
}

// remarkNeverMet rewrites a section in other words; its critic misses the same source each time.
func remarkNeverMet(p *generator) (entries []entry, _ int) {
	market, share := p.pick("heat pumps", "cargo bikes", "oat milk", "solar tiles", "e-readers"), fmt.Sprint(p.between(11, 64))
	claim := "a source for the claim that " + share + " % of households buy " + market
	drafts := p.shuffled(
		"Demand for "+market+" keeps rising: "+share+" % of households buy them.",
		capitalized(market)+" are popular. About "+share+" % of all households buy them today.",
		"With "+share+" % of households as buyers, "+market+" have become common.",
		"Households take to "+market+"; "+share+" % buy them, and demand is growing.",
		"Growth is strong in "+market+", which "+share+" % of households buy.",
		"The market of "+market+" is large: "+share+" % of households are buyers.",
		"Today "+share+" % of households are buyers of "+market+", a sign of rising demand.",
	)
	remarks := []string{
		"Still missing: " + claim + ".", "Please add " + claim + ".", "The section lacks " + claim + ".",
		"Good style, but there is no " + strings.TrimPrefix(claim, "a ") + ".",
	}
	path, critic := "report/"+strings.ReplaceAll(market, " ", "_")+".md", p.pick("review_section", "critique", "ask_editor")
	w := wording{
		first: []string{"I write the section on the market.", "Let me draft this section."},
		seen:  []string{"The review has a point.", "The critic wants changes.", "Good feedback.", "I see what is missing."},
		next:  []string{"Let me improve the wording.", "Let me revise the section.", "I'll make it clearer.", "Let me polish it."},
	}
	for k, draft := range drafts[:p.between(5, 7)] {
		entries = append(
			entries, call("write_file", object("path", path, "content", "## Market\n\n"+draft), quoted(fmt.Sprintf("Wrote %d bytes to %s",
				len(draft)+11, path))).after(w.of(p, k)),
			call(critic, object("path", path), object("verdict", "revise", "score", p.between(5, 7), "remark", p.pick(remarks...))),
		)
	}
	return entries, 3
}
