package splice

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The loops of this file are those of agents that use a browser by numbered elements, or a desktop by coordinates.

func navigatorLoops() []kind {
	return []kind{
		{name: "chart_extracted_as_nothing", build: chartExtractedAsNothing},
		{name: "element_numbers_out_of_date", build: elementNumbersOutOfDate},
		{name: "terms_box_ticked_and_unticked", build: termsBoxTickedAndUnticked},
		{name: "clicks_land_on_neighbour", build: clicksLandOnNeighbour},
	}
}

// navigator acts on pages whose elements have numbers, which begin anew, at another number, when a page changes.
type navigator struct {
	*generator
	url, title string
	first      int // the number of the first element
}

func (p *generator) navigator(site, title string) *navigator {
	return &navigator{p, "https://" + p.pick("app", "my", "portal", "www") + "." + site + ".example/" + p.word(), title, p.between(3, 60)}
}

// state returns the page as text.
func (n *navigator) state(elements ...string) string {
	lines := make([]string, len(elements))
	for k, element := range elements {
		lines[k] = fmt.Sprintf("[%d]<%s />", n.first+k, element)
	}
	return fmt.Sprintf("Current url: %s\nTitle: %s\n%d.%d pages above, %d.%d pages below\n%s", n.url, n.title, n.IntN(2), n.IntN(10), n.IntN(4), n.IntN(10), strings.Join(lines, "\n"))
}

// act returns an action, what the browser said about it, and the page after it.
func (n *navigator) act(action string, args json.RawMessage, said string, elements ...string) entry {
	return call(action, args, quoted(said+"\n\n"+n.state(elements...)))
}

// click returns a click on the element at a place of the page.
func (n *navigator) click(at int, label string, elements ...string) entry {
	return n.act("click", object("index", n.first+at), "Clicked button \""+label+"\"", elements...)
}

// chartExtractedAsNothing asks again and again for the values of a chart that is drawn on a canvas, which the extraction cannot see.
func chartExtractedAsNothing(p *generator) (entries []entry, _ int) {
	what := p.pick("net sales", "active users", "page views", "failed payments", "open tickets")
	n := p.navigator(p.word(), capitalized(what)+" | Dashboard")
	elements := []string{"button Last 30 days", "button Export", "canvas role=img", "a Details"}
	queries := []string{
		"the values of the chart of " + what, "the " + what + " of each day as a table", "all data points of the line chart", "the day on which " + what + " fell most",
		"the numbers shown in the chart, with dates", "the labels and values of the x and y axis", "the chart data as JSON", "what the tooltip of the chart shows",
	}
	answers := []string{"{\"data\": [], \"note\": \"The page has no values for this chart.\"}", "{\"error\": \"No chart data in the content of the page.\"}", "The page content contains the heading and two buttons, but no values of the chart.", "{\"data\": null, \"note\": \"The chart seems to be drawn by a script.\"}"}
	w := wording{
		[]string{"Let me extract the data of the chart.", "I'll extract the values."},
		[]string{"The extraction was empty.", "No values in the result.", "The chart was not extracted.", "Eval: failed - no data.", ""},
		[]string{"Let me extract with a clearer query.", "I'll extract the content again.", "Let me scroll so that the chart is in view.", "Perhaps the page was not loaded.", "Let me ask for the points directly."},
	}
	for k := range p.pickInt(5, 6, 6, 7, 8, 10) {
		query := queries[0]
		if k > 0 {
			query = p.pick(queries...)
		}
		if k > 1 && p.IntN(4) == 0 {
			if p.coin() {
				entries = append(entries, n.act("scroll", object("down", p.coin(), "pages", p.pickInt(1, 1, 2)), "Scrolled the page", elements...).after(thought{"", "Let me bring the chart into view."}))
			} else {
				entries = append(entries, n.act("wait", object("seconds", p.between(2, 8)), "Waited", elements...).after(thought{"", "Let me wait until it has loaded."}))
			}
		}
		text := "<url>\n" + n.url + "\n</url>\n<query>\n" + query + "\n</query>\n<result>\n" + p.pick(answers...) + "\n</result>"
		entries = append(entries, call("extract", object("query", query, "extract_links", false), quoted(text)).after(w.of(p, k)))
	}
	return entries, 1
}

// elementNumbersOutOfDate clicks by the numbers of a page that has changed since, and takes the next number from an old state as well.
func elementNumbersOutOfDate(p *generator) (entries []entry, _ int) {
	target := p.pick("Book now", "Add to basket", "Continue", "Apply", "Show prices", "Next step")
	n := p.navigator(p.word(), capitalized(p.word())+" – "+p.pick("Results", "Availability", "Offers"))
	elements := []string{"input type=search", "button Filter", "div live banner", "button " + target, "a Terms"}
	refusal := func(index int) string {
		return fmt.Sprintf(p.pick("Element index %d not available - the page may have changed. Refresh the browser state.", "Failed to click element with index %d: it is not in the selector map any more."), index)
	}
	w := wording{
		[]string{"I'll click \"" + target + "\".", "The button is there. Let me click it."},
		[]string{"The page changed.", "The element is not available.", "Eval: failed - the index is old.", "The click failed.", ""},
		[]string{"Let me click it by its new index.", "I'll try again.", "Let me try the index next to it.", "Let me refresh and click.", "I'll click the button again."},
	}
	for k := range p.pickInt(4, 5, 5, 6, 7, 9) {
		index := n.first + 3
		if p.IntN(4) == 0 {
			index += p.pickInt(-1, 1, 2)
		}
		entries = append(entries, failed("click", object("index", index), refusal(index)).after(w.of(p, k)))
		n.first += p.between(1, 9) // what the live banner inserts
		if k > 0 && p.IntN(5) < 2 {
			entries = append(entries, n.act("get_browser_state", object("include_screenshot", false), "State", elements...).after(thought{p.pick(w.seen...), p.pick("Let me get the state again.", "Which elements are there now?")}))
			n.first += p.between(1, 5)
		}
	}
	return entries, 1
}

// termsBoxTickedAndUnticked clicks the box of the terms and then its label, which takes the tick away, and sends the form.
func termsBoxTickedAndUnticked(p *generator) (entries []entry, _ int) {
	send := p.pick("Create account", "Place order", "Submit application", "Register", "Pay now")
	n := p.navigator(p.word(), send)
	missing := p.pick("Please accept the terms to continue.", "You must agree to the terms and conditions.", "This field is required.")
	elements := func(ticked bool, warned string) []string {
		return []string{fmt.Sprintf("input type=checkbox name=terms checked=%t", ticked), "label I agree to the terms", "button " + send, "span " + warned}
	}
	warned := ""
	rounds := p.between(3, 4)
	for k := range rounds {
		t := thought{p.pick("The terms were not accepted.", "The form wants the box.", "Eval: failed - the box is not ticked.", "It was not sent."), p.pick("Let me tick the box again.", "I'll accept the terms.", "Let me click the box and its label.")}
		if k == 0 {
			t = thought{"", "Let me accept the terms."}
		}
		entries = append(entries,
			n.click(0, "terms", elements(true, warned)...).after(t),
			n.click(1, "I agree to the terms", elements(false, warned)...).after(thought{"", p.pick("I'll click the label as well.", "Now the label, to make sure.", "")}))
		warned = missing
		entries = append(entries, n.click(2, send, elements(false, warned)...).after(thought{"", p.pick("Now I'll send the form.", "Let me submit it.", "")}))
		if k > 0 && k < rounds-1 && p.IntN(3) == 0 {
			entries = append(entries, n.act("scroll", object("down", p.coin(), "pages", 1), "Scrolled the page", elements(false, warned)...).after(thought{"", "Let me see whether something else is missing."}))
		}
	}
	return entries, 3
}

// clicksLandOnNeighbour clicks a little beside an icon, by the coordinates of a scaled screenshot; another menu opens, which is closed again.
func clicksLandOnNeighbour(p *generator) (entries []entry, _ int) {
	target, other := p.pick("Save as", "Insert chart", "Print", "Merge cells"), p.pick("Font size", "Zoom", "Share", "Styles")
	x, y := p.between(200, 1200), p.between(40, 120)
	near := func() []int { return []int{x + p.between(-4, 4), y + p.between(-3, 3)} }
	shot := func(shows string) json.RawMessage {
		return jsonOf([]json.RawMessage{object("type", "text", "text", shows), object("type", "image", "source", "screenshot_"+p.letters(8)+".png")})
	}
	open, closed := "The menu \""+other+"\" is open over the document.", "The document, with no menu open."
	w := wording{
		[]string{"I'll click \"" + target + "\" in the toolbar.", "Let me open \"" + target + "\"."},
		[]string{"That opened \"" + other + "\".", "The wrong menu opened.", "I hit the item beside it.", ""},
		[]string{"Let me click \"" + target + "\" again, a bit more to the left.", "I'll adjust the coordinates.", "Let me aim at its centre.", "I'll try again."},
	}
	for k := range p.between(3, 6) {
		entries = append(entries,
			call("computer", object("action", "left_click", "coordinate", near()), shot(open)).after(w.of(p, k)),
			call("computer", object("action", "key", "text", "Escape"), shot(closed)).after(thought{p.pick("A different menu.", "That is not the one.", ""), p.pick("Let me close it.", "Escape.", "I'll close this menu.")}))
		if k > 0 && p.IntN(4) == 0 {
			entries = append(entries, call("computer", object("action", p.pick("screenshot", "zoom")), shot(closed)).after(thought{"", "Let me look at the screen."}))
		}
	}
	return entries, 2
}
