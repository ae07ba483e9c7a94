package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents at a browser or a screen.

func browserLoops() []kind {
	return []kind{
		{name: "locator_times_out", build: locatorTimesOut},
		{name: "human_check", build: humanCheck},
		{name: "screen_unchanged", build: screenUnchanged},
		{name: "end_of_page", build: endOfPage},
		{name: "menu_opened_and_closed", build: menuOpenedAndClosed},
	}
}

// locatorTimesOut clicks by other selectors, and each runs into a timeout.
func locatorTimesOut(p *generator) (entries []entry, _ int) {
	label := p.phrase(1, 2)
	for range p.between(5, 8) {
		selector := p.pick("text="+label, "button:has-text('"+label+"')", "#"+p.word(), "//button[contains(., '"+label+"')]", "[data-testid="+p.word()+"]", "role=button[name='"+label+"']")
		entries = append(entries, failed("page_click", object("selector", selector, "timeout", 1000*p.between(5, 30)), fmt.Sprintf("TimeoutError: locator.click: Timeout %dms exceeded.\nCall log:\n  - waiting for locator('%s')", 1000*p.between(5, 30), selector)))
	}
	return entries, 1
}

// humanCheck opens results of a search, and each asks whether a human reads it.
func humanCheck(p *generator) (entries []entry, _ int) {
	for range p.between(6, 9) {
		url := "https://" + p.word() + ".example/" + p.word()
		page := fmt.Sprintf("Just a moment...\n%s needs to review the security of your connection before proceeding.\nVerify you are human by completing the action below.\nRay ID: %016x", strings.TrimPrefix(url, "https://"), p.Uint64())
		entries = append(entries, call("WebFetch", object("url", url, "prompt", "Summarise the page about "+p.phrase(2, 4)), quoted(page)))
	}
	return entries, 1
}

// screenUnchanged clicks at other places of a screen that stays as it is.
func screenUnchanged(p *generator) (entries []entry, _ int) {
	window, parts := p.phrase(2, 3), p.words(5)
	for range p.between(6, 10) {
		args := object("action", p.pick("left_click", "double_click"), "coordinate", []string{fmt.Sprint(p.between(300, 340)), fmt.Sprint(p.between(500, 540))})
		screen := fmt.Sprintf("Screenshot taken at %02d:%02d:%02d. Window: %s. Visible: %s. Dialog: Save changes?", p.IntN(24), p.IntN(60), p.IntN(60), window, strings.Join(parts, ", "))
		entries = append(entries, call("computer", args, quoted(screen)))
	}
	return entries, 1
}

// endOfPage scrolls on where a page has ended.
func endOfPage(p *generator) (entries []entry, _ int) {
	footer := p.phrase(6, 9)
	for range p.between(6, 10) {
		answer := fmt.Sprintf("Scrolled down by %d pixels. Viewport position: bottom of the page (100%%).\n%s\nImprint | Privacy | Contact", p.between(200, 900), footer)
		entries = append(entries, call("page_down", object("pixels", p.between(200, 900)), quoted(answer)))
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
