package splice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The loops of this file are those of browser agents at shops, portals and booking pages.

func storefrontLoops() []kind {
	return []kind{
		{name: "overlay_takes_clicks", build: overlayTakesClicks},
		{name: "choice_never_made", build: choiceNeverMade},
		{name: "offers_reopened_to_compare", build: offersReopenedToCompare},
		{name: "same_credentials_rejected", build: sameCredentialsRejected},
	}
}

// browser drives one tab. The form determines its tools and how it shows a page.
type browser struct {
	*generator
	form     int
	site     string
	elements []string // of the page that is shown
	ref      int      // the reference of the first element of that page
}

func (p *generator) browser() *browser {
	return &browser{generator: p, form: p.IntN(3), site: p.word() + p.pick("-shop", "-store", "market", "-online", "hub") + ".example"}
}

// page is what a tab shows: a path, a title, and elements such as `button "Pay"`.
type page struct {
	path, title string
	elements    []string
}

// with returns the page with one more element.
func (at page) with(element string) page {
	return page{at.path, at.title, append(slices.Clip(at.elements), element)}
}

// shown returns the page as the result of an action.
func (b *browser) shown(action string, at page) json.RawMessage {
	url := "https://" + b.site + at.path
	b.elements, b.ref = at.elements, b.between(3, 90)
	switch b.form {
	case 0:
		text := "### Page state\n- Page URL: " + url + "\n- Page Title: " + at.title + "\n- Page Snapshot:\n```yaml\n"
		for k, e := range at.elements {
			text += fmt.Sprintf("- %s [ref=e%d]\n", e, b.ref+2*k)
		}
		return content(text + "```")
	case 1:
		text := action + "\nCurrent url: " + url + "\nInteractive elements:\n"
		for k, e := range at.elements {
			text += fmt.Sprintf("[%d]<%s/>\n", k, e)
		}
		return quoted(text)
	}
	return object("ok", true, "url", url, "title", at.title, "elements", at.elements, "loaded_in_ms", b.between(90, 3000))
}

// place returns the place of an element among those of the page.
func (b *browser) place(element string) int {
	return max(0, slices.IndexFunc(b.elements, func(e string) bool { return strings.Contains(e, "\""+element) }))
}

func (b *browser) open(at page) entry {
	url := "https://" + b.site + at.path
	tool := []string{"browser_navigate", "go_to_url", "navigate"}[b.form]
	return call(tool, object("url", url), b.shown("🔗  Navigated to "+url, at))
}

func (b *browser) back(at page) entry {
	return call([]string{"browser_navigate_back", "go_back", "back"}[b.form], object(), b.shown("🔙  Navigated back", at))
}

// click clicks the element whose name begins so; the agent may describe it in more words.
func (b *browser) click(element, described string, at page) entry {
	place, ref := b.place(element), b.ref
	switch b.form {
	case 0:
		return call("browser_click", object("element", element+described, "ref", fmt.Sprintf("e%d", ref+2*place)), b.shown("", at))
	case 1:
		return call("click_element", object("index", place), b.shown(fmt.Sprintf("🖱️  Clicked button with index %d: %s",
			place, element), at))
	}
	return call("click", object("target", element+described), b.shown("", at))
}

func (b *browser) enter(field, text string, at page) entry {
	place, ref := b.place(field), b.ref
	switch b.form {
	case 0:
		return call("browser_type", object("element", field, "ref", fmt.Sprintf("e%d", ref+2*place), "text", text), b.shown("", at))
	case 1:
		return call("input_text", object("index", place, "text", text), b.shown(fmt.Sprintf("⌨️  Input %s into index %d", text, place), at))
	}
	return call("fill", object("target", field, "value", text), b.shown("", at))
}

// overlayTakesClicks clicks a button by all kinds of selectors, and a layer above the page takes each click.
func overlayTakesClicks(p *generator) (entries []entry, _ int) {
	label := p.pick("Checkout", "Continue", "Place order", "Next", "Download invoice")
	layer := p.pick(
		`<div class="modal-backdrop show"></div>`, `<div id="newsletter-popup">…</div>`, `<iframe title="Chat" name="chat-widget"></iframe>`,
		`<div class="consent-layer" role="dialog">…</div>`,
	)
	w := wording{
		first: []string{"Now I click " + label + ".", "The form is complete. Let me click \"" + label + "\"."},
		seen: []string{
			"The click did not go through.", "The click timed out.", "Something is in the way of the button.",
			"The button is visible but cannot be clicked.",
		},
		next: []string{
			"Let me use another selector.", "Let me address the button in another way.", "Let me click it again.",
			"I'll try it with another timeout.", "Let me try another locator.",
		},
	}
	targets := p.shuffled(
		"getByRole('button', { name: '"+label+"' })", "locator('text="+label+"')", "locator('button.btn-primary')", "locator('#submit')",
		"getByText('"+label+"').last()",
		"locator('form >> button[type=submit]')", "locator('xpath=//button[contains(., \""+label+"\")]')", "locator('main button').nth(1)",
		"getByTestId('submit')",
	)
	tool, name := p.pick("browser_click", "click", "page_click"), p.pick("selector", "target", "locator")
	for k, target := range targets[:p.between(6, 9)] {
		timeout := p.pickInt(5000, 10000, 15000, 30000)
		reason := fmt.Sprintf("TimeoutError: locator.click: Timeout %dms exceeded.\nCall log:\n  - waiting for %s\n"+
			"    - locator resolved to <button type=\"submit\" class=\"btn\">%s</button>\n  - attempting click action\n"+
			"    - waiting for element to be visible, enabled and stable\n    - %s intercepts pointer events\n"+
			"  - retrying click action, attempt #%d", timeout, target, label, layer, p.between(4, 40))
		entries = append(entries, failed(tool, object(name, target, "timeout", timeout), reason).after(w.of(p, k)))
	}
	return entries, 1
}

// choiceNeverMade puts an article into the basket without the choice that the page asks for.
func choiceNeverMade(p *generator) (entries []entry, _ int) {
	type shop struct{ article, button, ask, basket, empty string }
	s := []shop{
		{p.pick("Trail jacket", "Linen shirt", "Running shoe"), "Add to bag", "Please select a size", "Bag", "Your bag is empty"},
		{
			p.pick("Standing desk", "Shelf Norrby", "Bed frame"), "Add to cart", "Choose a colour to continue", "Cart",
			"There are no items in your cart",
		},
		{p.pick("Weekly meal box", "Flower subscription", "Coffee plan"), "Subscribe", "Pick a delivery day", "Basket", "Nothing here yet"},
		{p.pick("City tour", "Museum pass", "Harbour cruise"), "Reserve", "Select a date first", "My bookings", "You have no bookings"},
	}[p.IntN(4)]
	b := p.browser()
	path := "/p/" + strings.ReplaceAll(strings.ToLower(s.article), " ", "-")
	article := page{path, s.article, []string{
		"heading \"" + s.article + "\"", "combobox \"Please choose\"", "button \"" + s.button + "\"",
		"link \"" + s.basket + " (0)\"",
	}}
	asked := article.with("alert \"" + s.ask + "\"")
	basket := page{"/basket", s.basket, []string{
		"heading \"" + s.basket + "\"", "paragraph \"" + s.empty + "\"",
		"link \"Continue shopping\"",
	}}
	w := wording{
		first: []string{"I found the article. Let me add it.", "Now I put it into the basket."},
		seen: []string{
			"The article was not added.", "It is not in the basket yet.",
			"Hmm, the basket is still empty.", "",
		},
		next: []string{
			"Let me add it again.", "Let me click the button once more.", "Let me try that again.", "I'll add it once more.",
		},
	}
	b.elements = article.elements
	for k := range p.between(4, 6) {
		entries = append(
			entries, b.click(s.button, p.pick("", " button", " (main)"), asked).after(w.of(p, k)),
			b.click(s.basket, p.pick("", " link", " icon"), basket).after(thought{
				p.pick("It should be there now.", "That was added.", ""), p.pick("Let me open the basket.", "Let me check the basket.",
					"Now to the basket."),
			}),
		)
		if p.coin() {
			entries = append(entries, b.open(article))
			continue
		}
		entries = append(entries, b.click("Continue shopping", "", article))
	}
	return entries, 3
}

// offersReopenedToCompare opens the same two offers from a list of results in turn, and decides on none.
func offersReopenedToCompare(p *generator) (entries []entry, _ int) {
	b := p.browser()
	thing := p.pick("apartment", "laptop", "hotel", "used car", "dishwasher")
	names := p.shuffled("Alder", "Birch", "Cedar", "Elm", "Hazel", "Linden")[:p.between(3, 6)]
	list := page{"/search?q=" + strings.ReplaceAll(thing, " ", "+"), "Results for " + thing, []string{"heading \"Results for " + thing + "\""}}
	offers := make([]page, len(names))
	for k, name := range names {
		price := p.between(200, 900)
		list = list.with(fmt.Sprintf("link \"%s %d €\"", name, price))
		offers[k] = page{"/offer/" + strings.ToLower(name), name, []string{
			"heading \"" + name + "\"", fmt.Sprintf("text \"Price %d €\"", price),
			"text \"" + p.pick("Available at once", "Free cancellation", "Last one", "Popular choice") + "\"",
			fmt.Sprintf("text \"Rated %d.%d of 5 by %d people\"", p.between(3, 4), p.IntN(10), p.between(20, 900)), "button \"Choose\"",
		}}
	}
	w := wording{
		first: []string{"Let me compare the two offers.", "Two offers fit. Let me look at both."},
		seen: []string{
			"This one looks good.", "I should compare it with the other one.", "Both would fit.",
			"I am not sure about the price of the other.", "The rating matters, too.",
		},
		next: []string{
			"Let me look at the details again.", "Let me see this one once more.", "Let me check this one again before I decide.",
			"Let me compare it with this one again.",
		},
	}
	entries = append(entries, b.open(list))
	for k := range 2 * p.between(3, 5) {
		t := w.of(p, k)
		if k == 1 {
			t = thought{"", p.pick("Now the other one.", "Let me open the other offer.")}
		}
		entries = append(entries, b.click(names[k%2], p.pick("", " offer", " (details)"), offers[k%2]).after(t))
		if p.coin() {
			entries = append(entries, b.open(list))
			continue
		}
		entries = append(entries, b.back(list))
	}
	return entries, 5
}

// sameCredentialsRejected signs in with one name and one password again and again.
func sameCredentialsRejected(p *generator) (entries []entry, _ int) {
	b := p.browser()
	address := p.pick("maria.lund", "j.okafor", "tomas.v", "accounts") + "@" + p.word() + ".example"
	password := p.pick("Winter", "harbor", "Sunny") + fmt.Sprint(p.between(10, 9999)) + p.pick("!", "#", "")
	refusal := p.pick("Incorrect email or password", "We do not recognise these details", "Invalid login. Please try again",
		"The email or password you entered is wrong")
	form := func(mail, password string, more ...string) page {
		return page{"/login", "Sign in", append([]string{
			"heading \"Welcome back\"", "textbox \"Email\": " + mail, "textbox \"Password\": " + password, "button \"Sign in\"",
			"link \"Forgot password?\"",
		}, more...)}
	}
	refused := form(p.pick(address, ""), "", "alert \""+refusal+"\"")
	w := wording{
		first: []string{"I sign in with the given account.", "Let me log in first."},
		seen: []string{
			"The login failed.", "It says that the details are wrong.", "The sign-in did not work.",
			"Perhaps the password was not typed in full.", "Still on the login page.",
		},
		next: []string{
			"Let me enter the details again.", "Let me retry the login.", "Let me type it more carefully.", "I'll fill in the form again.",
			"Let me try once more.",
		},
	}
	b.elements = form("", "").elements
	for k := range p.between(4, 7) {
		entries = append(entries, b.enter("Email", address, form(address, "")).after(w.of(p, k)), b.enter("Password", password, form(address,
			"••••••••")))
		if b.form == 0 && k > 0 && p.coin() {
			entries = append(entries, call("browser_press_key", object("key", "Enter"), b.shown("", refused)))
			continue
		}
		entries = append(entries, b.click("Sign in", p.pick("", " button"), refused))
	}
	return entries, 3
}
