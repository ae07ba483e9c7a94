package splice

import (
	"fmt"
	"time"
)

// The lookalikes of this file are honest work of browser agents, whose actions are equal and whose pages differ.

func storefrontLookalikes() []kind {
	return []kind{
		{name: "articles_paged_by_next_button", build: articlesPagedByNextButton},
		{name: "feed_scrolled_to_item", build: feedScrolledToItem},
		{name: "free_weekend_found_by_month", build: freeWeekendFoundByMonth},
	}
}

// articlesPagedByNextButton clicks Next on each page of a list; each page has other articles.
func articlesPagedByNextButton(p *generator) (entries []entry, _ int) {
	b := p.browser()
	things := p.shuffled("lamp", "kettle", "backpack", "tent", "mug", "clock", "chair", "blanket", "speaker", "notebook", "wok", "rug")
	pages := p.between(6, 10)
	w := wording{
		first: []string{"I collect the articles of all pages.", "Let me note what is on this page."},
		seen:  []string{"I have the articles of this page.", "Noted.", "These are new.", "Their prices are in my notes."},
		next:  []string{"Next page.", "On to the next page.", "Let me click Next.", "Let me continue with the following page."},
	}
	for k := range pages {
		at := page{fmt.Sprintf("/c/home?page=%d", k+1), fmt.Sprintf("Home, page %d of %d", k+1, pages), nil}
		for range p.between(4, 6) {
			name := p.pick("Oak", "Nordic", "Copper", "Alpine", "Linen", "Retro", "Coastal", "Urban") + " " + things[p.IntN(len(things))] + " " +
				p.pick("S", "M", "XL", "II", "Plus", "Mini", "Pro")
			at.elements = append(at.elements, fmt.Sprintf("listitem \"%s, %d.%02d €, %s\"", name, p.between(4, 400), p.IntN(100),
				p.pick("in stock", "3 left", "delivery in a week", "sold out")))
		}
		if k+1 < pages {
			at.elements = append(at.elements, "button \"Next\"")
		}
		if k == 0 {
			entries = append(entries, b.open(at).after(w.of(p, k)))
			continue
		}
		entries = append(entries, b.click("Next", "", at).after(w.of(p, k)))
	}
	return entries, 0
}

// feedScrolledToItem scrolls a feed by one screen at a time; each screen has other posts, and the last one has the post that is looked for.
func feedScrolledToItem(p *generator) (entries []entry, _ int) {
	b := p.browser()
	sought := p.pick("the call for volunteers", "the post about road works", "the lost dog", "the opening hours at Easter",
		"the recall of the bike helmet")
	w := wording{
		first: []string{"I look for " + sought + " in the feed.", "Let me scroll until I find " + sought + "."},
		seen: []string{
			"Not among these posts.", "Older posts now, but not the one I need.", "These are about other things.",
			"Getting closer by date.",
		},
		next: []string{"Let me scroll on.", "Scrolling further.", "Let me see the next ones.", "On to older posts."},
	}
	screens, day := p.between(6, 10), p.between(200, 330)
	for k := range screens {
		at := page{"/feed", "Feed", nil}
		for range p.between(3, 4) {
			day -= p.between(1, 4)
			at.elements = append(at.elements, fmt.Sprintf("article \"%s %s %s, %s\"", p.pick("Lena", "Omar", "City council", "Choir", "Ines",
				"Fire brigade", "Library", "Jonas"),
				p.pick("shared photos of", "asks about", "invites to", "reports on", "says thanks for",
					"sells tickets for"), p.pick("the summer fair", "a concert", "the new bus line", "yesterday's match", "a yard sale",
					"the river walk", "the school play", "bread recipes", "the old mill"),
				fmt.Sprintf("day %d, %d likes", day, p.between(0, 300))))
		}
		if k == screens-1 {
			at.elements = append(at.elements, fmt.Sprintf("article \"Here it is: %s, day %d\"", sought, day-1))
		}
		tool, args := "browser_scroll", object("direction", "down", "pages", 1)
		if b.form == 1 {
			tool, args = "scroll_down", object()
		}
		entries = append(entries, call(tool, args, b.shown("🔍  Scrolled down the page", at)).after(w.of(p, k)))
	}
	return entries, 0
}

// freeWeekendFoundByMonth clicks from month to month in a calendar, and reads which nights are free in each; the last has a Saturday.
func freeWeekendFoundByMonth(p *generator) (entries []entry, _ int) {
	b := p.browser()
	place := p.pick("Lakeside cabin", "Old barn", "Rooftop hall", "Forest campsite", "Island house")
	first, n := p.between(1, 4), p.between(6, 9)
	w := wording{
		first: []string{"I look for a free weekend.", "Let me go through the calendar of the " + place + "."},
		seen: []string{
			"No weekend is free in this month.", "Only weekdays here.", "The weekends are taken here.", "Fully booked on Saturdays.",
		},
		next: []string{"Next month.", "Let me see the following month.", "On to the next month.", "Let me turn the page."},
	}
	for k := range n {
		at := page{"/stay/calendar", place, []string{"button \"Next month\""}}
		start := time.Date(2027, time.Month(first+k), 1, 0, 0, 0, 0, time.UTC)
		at = at.with("heading \"" + start.Format("January 2006") + "\"")
		for day := start; day.Month() == start.Month(); day = day.AddDate(0, 0, 1) {
			weekend := day.Weekday() == time.Friday || day.Weekday() == time.Saturday || day.Weekday() == time.Sunday
			if weekend && (k < n-1 || day.Day() > 7) || !weekend && p.IntN(4) > 0 {
				continue
			}
			at = at.with(fmt.Sprintf("cell \"%s: free, %d €\"", day.Format("Mon 2 January"), p.between(60, 240)))
		}
		if k == 0 {
			entries = append(entries, b.open(at).after(w.of(p, k)))
			continue
		}
		entries = append(entries, b.click("Next month", "", at).after(w.of(p, k)))
	}
	return entries, 0
}
