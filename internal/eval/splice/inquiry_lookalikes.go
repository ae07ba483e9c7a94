package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that search and read.

func inquiryLookalikes() []kind {
	return []kind{
		{name: "citations_followed_back", build: citationsFollowedBack},
		{name: "indicator_looked_up_by_country", build: indicatorLookedUpByCountry},
		{name: "hearing_read_by_position", build: hearingReadByPosition},
	}
}

// citationsFollowedBack reads a paper, then the paper that it cites for a claim, and so on to the first one.
func citationsFollowedBack(p *generator) (entries []entry, _ int) {
	subject := p.pick("sleep in bees", "rust on bridges", "memory for faces", "the yield of rye", "glacier tongues", "vowel length")
	names := p.shuffled("Abe", "Bianchi", "Castro", "Dufour", "Eriksen", "Fischer", "Gupta", "Horvat", "Ito", "Jansen")
	year, n := p.between(2018, 2025), p.between(6, 9)
	w := wording{
		first: []string{"Let me find where this claim comes from.", "I start with the latest paper."},
		seen: []string{
			"This paper cites an earlier one for the claim.", "The claim is not its own.", "It only repeats the figure.",
			"The figure comes from an older work.",
		},
		next: []string{"Let me open the cited paper.", "Let me follow the reference.", "On to the earlier paper.", "Let me read that one."},
	}
	for k, name := range names[:n] {
		id := fmt.Sprintf("10.%d/%s.%d", p.between(1000, 9999), strings.ToLower(name), year)
		method := p.pick("a field study", "a review of 40 works", "a laboratory test", "a survey", "a model", "two case studies") + " with " +
			fmt.Sprint(p.between(12, 900)) + " " + p.pick("samples", "sites", "subjects", "records")
		claim := "For the effect it relies on its own data."
		earlier := year - p.between(2, 6)
		if k < n-1 {
			claim = fmt.Sprintf("For the effect it cites %s (%d).", names[k+1], earlier)
		}
		result := object("title", capitalized(p.pick("notes on ", "on the study of ", "measuring ", "new views on ", "causes of "))+subject,
			"authors", []string{name}, "year", year,
			"abstract", "We report "+method+". "+p.pick("The effect was strong in spring.", "Effects differ between regions.",
				"We found a decline over the years.", "The effect vanished under control.", "Results agree with theory.")+" "+claim)
		entries = append(entries, call("get_paper", object("doi", id), result).after(w.of(p, k)))
		year = earlier
	}
	return entries, 0
}

// indicatorLookedUpByCountry asks one question for one country after another.
func indicatorLookedUpByCountry(p *generator) (entries []entry, _ int) {
	indicator := p.pick("railway length in km", "forest area in km2", "museum visits in thousands", "new cars in a year",
		"cement output in kt", "tourist nights in thousands")
	done := ""
	tool := p.pick("web_search", "ask_statistics", "search")
	for _, country := range p.shuffled("Portugal", "Estonia", "Chile", "Ghana", "Vietnam", "Norway", "Jordan", "Uruguay", "Kenya", "Latvia",
		"Nepal")[:p.between(6, 10)] {
		value := fmt.Sprintf("%d,%03d", p.between(1, 140), p.IntN(1000))
		text := fmt.Sprintf("%s, %s: %s (%d).", capitalized(indicator), country, value, p.between(2019, 2025))
		if p.coin() {
			text = fmt.Sprintf("In %d the %s of %s came to %s, %s.", p.between(2019, 2025), indicator, country, value,
				p.pick("slightly more than before", "a record", "down from the year before", "as expected"))
		}
		text += p.pick(" Source: statistics office of ", " Source: ministry of economy, ", " As told by the yearbook of ") + country + "."
		e := call(tool, object("query", indicator+" "+country), object("answer", text, "took_ms", p.between(80, 1500)))
		entries = append(entries, e.after(p.nextItem(done, country)))
		done = country
	}
	return entries, 0
}

// hearingReadByPosition reads the transcript of a hearing in parts; only the position in the arguments differs.
func hearingReadByPosition(p *generator) (entries []entry, _ int) {
	document, step := fmt.Sprintf("hearing-%d", p.between(100, 999)), p.pickInt(2000, 4000, 5000)
	speakers := p.shuffled("Ms Aalto", "Mr Boateng", "Dr Conti", "Ms Delgado", "Mr Ekman", "The chair", "Ms Farouk")
	n := p.between(6, 9)
	w := wording{
		first: []string{"I read the transcript from the start.", "Let me go through the hearing."},
		seen: []string{
			"Noted who spoke.", "That part is about costs.", "I have this part.", "There are new statements here.",
			"Good, that is useful for the summary.",
		},
		next: []string{"Let me read on.", "Next part.", "Let me continue from there.", "On to what follows."},
	}
	for k := range n {
		lines := make([]string, p.between(3, 5))
		for m := range lines {
			lines[m] = speakers[p.IntN(len(speakers))] + ": " + p.pick("The bridge", "The budget", "The contractor", "The new school", "The ferry",
				"The audit", "The delay", "The council") + " " +
				p.pick("was known to us since", "was discussed with the mayor in", "became more expensive after", "was never signed off in",
					"was reported to the press in", "was inspected in") + " " +
				p.pick("March", "the spring of 2019", "the second week of May", "late autumn", "August", "the year before") + ", " +
				p.pick("as the minutes show.", "and I told the board.", "which I regret.", "but nobody asked me.",
					"so we paid "+fmt.Sprint(p.between(10, 900))+" thousand.", "I have the letter here.")
		}
		result := object("document", document, "offset", k*step, "length", step, "total", n*step, "text", strings.Join(lines, "\n"))
		entries = append(entries, call("read_document", object("document_id", document, "offset", k*step, "length", step), result).after(w.of(p,
			k)))
	}
	return entries, 0
}
