package splice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The loops of this file are those of browser agents at authorities, shops, travel sites and web mail.

func surfingLoops() []kind {
	return []kind{
		{name: "no_appointment_at_any_office", build: noAppointmentAtAnyOffice},
		{name: "code_never_reaches_inbox", build: codeNeverReachesInbox},
		{name: "cart_fills_with_same_article", build: cartFillsWithSameArticle},
		{name: "filters_displace_each_other", build: filtersDisplaceEachOther},
	}
}

// visitor drives a browser by the tools of Playwright's server, of the one for Chrome DevTools, or of browser-use.
type visitor struct {
	*generator
	form, shots int
	site        string
	frame       []string // links that each page of the site has
	shown       []string // the elements of the last page
	base        int      // the number of its first element
}

// sight is what a page shows: elements such as `button "Search"`, `textbox "Name": Ada` or `text "No results"`.
type sight struct {
	path, title string
	elements    []string
}

func (p *generator) visitor(site string) *visitor {
	v := &visitor{generator: p, form: p.IntN(3), site: "https://www." + p.word() + site + ".example", base: p.between(2, 90)}
	for _, word := range p.distinctWords(p.pickInt(0, 2, 4, 7, 12, 22)) {
		v.frame = append(v.frame, `link "`+capitalized(word)+`"`)
	}
	return v
}

// splitElement returns the parts of an element.
func splitElement(element string) (role, name, value string) {
	role, rest, _ := strings.Cut(element, ` "`)
	name, value, _ = strings.Cut(rest, `"`)
	return role, name, strings.TrimPrefix(value, ": ")
}

// see returns a page as a tool shows it.
func (v *visitor) see(at sight) string {
	v.shots++
	half := len(v.frame) / 2
	v.shown = slices.Concat(v.frame[:half], at.elements, v.frame[half:])
	text := []string{"### Page state\n- Page URL: " + v.site + at.path + "\n- Page Title: " + at.title + "\n- Page Snapshot:\n```yaml\n- generic [ref=e1]:", fmt.Sprintf("## Latest page snapshot\nuid=%d_0 RootWebArea %q url=%q", v.shots, at.title, v.site+at.path), "Current url: " + v.site + at.path + "\nTitle: " + at.title + "\nInteractive elements from top layer of the current page inside the viewport:\n[Start of page]"}[v.form]
	for k, element := range v.shown {
		role, name, value := splitElement(element)
		switch v.form {
		case 0:
			if role == "text" {
				text += "\n  - text: " + name
				continue
			}
			text += strings.TrimSuffix(fmt.Sprintf("\n  - %s %q [ref=e%d]: %s", role, name, v.base+2*k, value), ": ")
		case 1:
			if role == "text" {
				role = "StaticText"
			}
			text += strings.TrimSuffix(fmt.Sprintf("\n  uid=%d_%d %s %q value=%q", v.shots, k+1, role, name, value), ` value=""`)
		default:
			if role == "text" || role == "heading" {
				text += "\n" + name
				continue
			}
			tag := cmp.Or(map[string]string{"link": "a", "textbox": "input", "combobox": "select", "checkbox": "input"}[role], role)
			text += strings.ReplaceAll(fmt.Sprintf("\n[%d]<%s value=%q>%s</%[2]s>", v.base+k, tag, value, name), ` value=""`, "")
		}
	}
	return text + []string{"\n```", "", "\n[End of page]"}[v.form]
}

// open goes to a page.
func (v *visitor) open(at sight) entry {
	v.base = v.between(2, 90)
	args := object("url", v.site+at.path)
	switch v.form {
	case 0:
		return call("browser_navigate", args, content("### Ran Playwright code\n```js\nawait page.goto('"+v.site+at.path+"');\n```\n\n"+v.see(at)))
	case 1:
		return call("navigate_page", object("type", "url", "url", v.site+at.path), content("# navigate_page response\nSuccessfully navigated to "+v.site+at.path+".\n"+v.see(at)))
	}
	return call("navigate", args, quoted("Navigated to "+v.site+at.path+"\n"+v.see(at)))
}

// act clicks an element, or enters a text into it, or chooses the text in it, and returns the page that it shows then.
func (v *visitor) act(element, text string, at sight) entry {
	role, name, _ := splitElement(element)
	place := max(0, slices.IndexFunc(v.shown, func(e string) bool { return strings.HasPrefix(e, role+` "`+name+`"`) }))
	ref, uid, index := fmt.Sprintf("e%d", v.base+2*place), fmt.Sprintf("%d_%d", v.shots, place+1), v.base+place
	does := map[string]int{"textbox": 1, "combobox": 2}[role]
	switch v.form {
	case 0:
		code := "await page.getByRole('" + role + "', { name: '" + name + "' })" + []string{".click();", ".fill('" + text + "');", ".selectOption('" + text + "');"}[does]
		tool, args := "browser_click", object("element", name+" "+role, "ref", ref)
		switch does {
		case 1:
			tool, args = "browser_type", object("element", name+" field", "ref", ref, "text", text)
		case 2:
			tool, args = "browser_select_option", object("element", name+" list", "ref", ref, "values", []string{text})
		}
		return call(tool, args, content("### Ran Playwright code\n```js\n"+code+"\n```\n\n"+v.see(at)))
	case 1:
		if does > 0 {
			return call("fill", object("uid", uid, "value", text), content("# fill response\nSuccessfully filled out the element\n"+v.see(at)))
		}
		return call("click", object("uid", uid), content("# click response\nSuccessfully clicked on the element\n"+v.see(at)))
	}
	switch does {
	case 1:
		return call("input", object("index", index, "text", text, "clear", true), quoted(fmt.Sprintf("Typed '%s' into element %d\n%s", text, index, v.see(at))))
	case 2:
		return call("select_dropdown", object("index", index, "text", text), quoted(fmt.Sprintf("Selected option '%s'\n%s", text, v.see(at))))
	}
	return call("click", object("index", index), quoted(fmt.Sprintf("Clicked %s %q\n%s", role, name, v.see(at))))
}

// noAppointmentAtAnyOffice asks for an appointment at each office, and then asks the same offices again at once.
func noAppointmentAtAnyOffice(p *generator) (entries []entry, _ int) {
	v, now := p.visitor(p.pick("-city", "-registry", "-consulate", "-county")), p.passingTime()
	service := p.pick("Passport renewal", "Residence permit", "Driving licence", "Identity card", "Visa application", "Vehicle registration")
	offices, none := p.distinctWords(3), p.pick("There are currently no appointments available at this location.", "No free appointments. New appointments are released regularly.", "Unfortunately, no date is available for the chosen service.")
	at := func(office string, asked bool) sight {
		elements := []string{`heading "Book an appointment"`, `text "Service: ` + service + `"`, `combobox "Location": ` + office, `button "Show appointments"`}
		if asked {
			elements = append(elements, `text "`+none+`"`, `text "Last checked: `+now()[11:19]+`"`, `button "Next month"`)
		}
		return sight{"/appointments", service, elements}
	}
	show := `button "Show appointments"`
	w := wording{
		[]string{"Let me look for an appointment.", "I'll choose an office first."},
		[]string{"No appointment there.", "Nothing is free at that office.", "No dates available.", "Fully booked as well.", ""},
		[]string{"Let me try %s.", "Perhaps %s has something.", "I'll check %s.", "Let me see whether %s has a date.", "Back to %s."},
	}
	v.see(at(capitalized(offices[2]), false))
	last := 2
	for k := range 3 + p.repeats() {
		n := k
		if k >= 3 {
			n = (last + 1 + p.IntN(2)) % 3
		}
		last = n
		office := capitalized(offices[n]) + " office"
		words := w.of(p, k)
		if strings.Contains(words.next, "%") {
			words.next = fmt.Sprintf(words.next, "the "+office)
		}
		entries = append(entries, v.act(`combobox "Location"`, office, at(office, false)).after(words), v.act(show, "", at(office, true)))
		if k > 3 && p.IntN(4) == 0 {
			entries = append(entries, v.act(`button "Next month"`, "", at(office, true)).after(thought{"", p.pick("Maybe next month.", "Let me look at the next month.")}))
		}
	}
	return entries, 6
}

// codeNeverReachesInbox lets a site send a code again and looks into an inbox that gets no mail.
func codeNeverReachesInbox(p *generator) (entries []entry, _ int) {
	v, s, byTool := p.visitor(p.pick("bank", "-portal", "-tickets", "-insurance")), p.secretary(), p.coin()
	name, what, now := p.person(), p.pick("verification code", "confirmation link", "sign-in code", "security code"), p.passingTime()
	hidden, resend := strings.ToLower(name[:1])+"•••••@"+p.word()+".example", p.pick("Resend code", "Send a new code", "Didn't get an email? Send again")
	verify := func() sight {
		return sight{"/verify", "Verify it's you", []string{`heading "Check your email"`, `text "We sent a ` + what + ` to ` + hidden + `"`, `textbox "Code"`, `button "Continue"`, `button "` + resend + `"`, `text "` + p.pick("Sent at ", "A new email was sent at ", "Email sent: ") + now()[11:19] + `"`}}
	}
	mail := &visitor{generator: p, form: v.form, site: "https://mail." + p.word() + ".example"}
	inbox := []string{`textbox "Search mail"`, `button "Refresh"`}
	for _, from := range p.distinctWords(p.between(2, 9)) {
		inbox = append(inbox, `link "`+capitalized(from)+` - `+capitalized(p.phrase(2, 5))+` - Jun `+fmt.Sprint(p.between(1, 10))+`"`)
	}
	w := wording{
		[]string{"The site wants a " + what + ". Let me have it sent.", "I need the " + what + " from the mailbox."},
		[]string{"There is no such mail.", "The mail has not arrived.", "Nothing new in the inbox.", "Still no " + what + ".", ""},
		[]string{"Let me request it again.", "I'll send it once more.", "Let me have a new one sent.", "Let me try the resend button again."},
	}
	v.see(verify())
	for k := range p.repeats() {
		entries = append(entries, v.act(`button "`+resend+`"`, "", verify()).after(w.of(p, k)))
		look := mail.open(sight{"/inbox", "Inbox", inbox})
		if byTool {
			look = s.use("gmail", "search_emails", object("query", p.pick("newer_than:1h", "verification code", "subject:code newer_than:1d", "in:anywhere "+v.site[12:], "is:unread newer_than:1h", "in:spam code"), "maxResults", p.pickInt(5, 10)), "No emails found matching the query.")
		}
		entries = append(entries, look.after(thought{"", p.pick("Let me look into the inbox.", "Now the mail.", "Let me check the mailbox.", "")}))
	}
	return entries, 2
}

// cartFillsWithSameArticle clicks a button of a shop once more because the page looks as before, and each click puts one more of the article into the basket.
func cartFillsWithSameArticle(p *generator) (entries []entry, _ int) {
	v, article := p.visitor(p.pick("-shop", "store", "-outlet", "-direct")), p.pick("Electric kettle 1.7 l", "Running shoes, size 42", "USB-C hub 7-in-1", "Camping lantern", "Office chair, grey", "Yoga mat 6 mm", "Rice cooker 3 l")
	basket := p.pick("cart", "basket", "bag")
	path, button, price := "/p/"+fmt.Sprint(p.between(10_000, 999_999)), "Add to "+basket, fmt.Sprintf("%d.%02d", p.between(15, 180), 99)
	extras := []string{`text "` + capitalized(p.phrase(4, 9)) + `."`, `link "Reviews (` + fmt.Sprint(p.between(3, 900)) + `)"`, `text "In stock. Delivered in 2-3 days"`}
	n := 0
	at := func() sight {
		return sight{path, article, append([]string{`link "` + capitalized(basket) + ` ` + fmt.Sprint(n) + `"`, `heading "` + article + `"`, `text "` + price + ` EUR"`, `combobox "Quantity": 1`, `button "` + button + `"`}, extras...)}
	}
	w := wording{
		[]string{"Let me put it into the " + basket + ".", "I'll add the article."},
		[]string{"The page still shows the same.", "I see no confirmation.", "The button is still there.", "It does not seem to have been added.", "Nothing changed on the page.", ""},
		[]string{"Let me click the button again.", "I'll add it to the " + basket + ".", "Let me try to add it once more.", "Click \"" + button + "\"."},
	}
	entries = append(entries, user(p.pick("Please order", "Buy", "Can you get me")+" one "+article+" from "+strings.TrimPrefix(v.site, "https://www.")+p.pick(" and tell me the total.", ". Stop before you pay.", ", standard delivery please.")),
		v.open(at()).after(thought{"", p.pick("Let me open the product page.", "Here is the article.")}))
	for k := range p.repeats() + 1 {
		if k > 1 && p.IntN(4) == 0 {
			again := v.open(at())
			if p.coin() {
				again = v.act(`combobox "Quantity"`, "1", at())
			}
			entries = append(entries, again.after(thought{"", p.pick("Let me check the page.", "Perhaps the quantity was not set.", "Let me reload it.")}))
		}
		n++
		entries = append(entries, v.act(`button "`+button+`"`, "", at()).after(w.of(p, k)))
	}
	return entries, 3
}

// filtersDisplaceEachOther sets two filters in turn; the site keeps the last one alone.
func filtersDisplaceEachOther(p *generator) (entries []entry, _ int) {
	offers := p.pick("-hotels", "-cars", "-homes")
	v, names := p.visitor(offers), map[string][]string{"-hotels": {"Free cancellation", "Breakfast included", "Rated 8 and up", "Swimming pool"}, "-cars": {"Automatic", "Air conditioning", "Unlimited mileage", "Free cancellation"}, "-homes": {"Balcony", "Furnished", "Pets allowed", "Parking space"}}[offers]
	names = p.shuffled(names...)[:2]
	var results [2][]string
	for n := range results {
		total := p.between(30, 900)
		results[n] = []string{`heading "` + fmt.Sprint(total) + ` results"`}
		for _, word := range p.distinctWords(p.between(3, 8)) {
			results[n] = append(results[n], `link "`+capitalized(word)+` `+capitalized(p.word())+`, `+fmt.Sprint(p.between(40, 300))+` EUR"`)
		}
	}
	at := func(set int) sight {
		boxes := []string{`checkbox "` + names[0] + `"`, `checkbox "` + names[1] + `"`}
		path := "/search?page=1"
		if set >= 0 {
			path += fmt.Sprintf("&f=%d", set+11)
			boxes[set] = strings.TrimSuffix(boxes[set], `"`) + `": checked`
			return sight{path, "Results", append(boxes, results[set]...)}
		}
		return sight{path, "Results", boxes}
	}
	w := wording{
		[]string{"Let me set \"%s\" first.", "I start with the filter \"%s\"."},
		[]string{"Now the other filter is off.", "Only one of them is set.", "The first filter was lost.", "The list shows one filter alone.", ""},
		[]string{"Let me set \"%s\".", "I'll tick \"%s\" again.", "\"%s\" must be set as well.", "Let me add \"%s\" to it.", "Next, the filter \"%s\"."},
	}
	entries = append(entries, v.open(at(-1)).after(thought{"", p.pick("Let me open the search.", "Let me look at the results.")}))
	for k := range 2 + p.repeats() {
		words := w.of(p, k)
		words.next = fmt.Sprintf(words.next, names[k%2])
		entries = append(entries, v.act(`checkbox "`+names[k%2]+`"`, "", at(k%2)).after(words))
		if k > 2 && p.IntN(5) == 0 {
			to := at(k % 2)
			to.path = fmt.Sprintf("/search?page=1&f=%d&f=%d", 11+(k+1)%2, 11+k%2)
			entries = append(entries, v.open(to).after(thought{"", p.pick("Let me put both filters into the address.", "Perhaps the address takes both.")}))
		}
	}
	return entries, 3
}
