package splice

import (
	"fmt"
)

// The loops of this file are those of agents that work in sheets, calendars, browsers, homes and games.

func workplaceLoops() []kind {
	return []kind{
		{name: "cell_calculated_again", build: cellCalculatedAgain},
		{name: "event_an_hour_off", build: eventAnHourOff},
		{name: "dialog_blocks_tools", build: dialogBlocksTools},
		{name: "light_unavailable", build: lightUnavailable},
		{name: "illegal_move", build: illegalMove},
		{name: "pickaxe_needs_iron", build: pickaxeNeedsIron},
	}
}

// cellCalculatedAgain writes a value into a cell that a formula of the sheet fills, and reads the old value back.
func cellCalculatedAgain(p *generator) (entries []entry, _ int) {
	sheet, cell, old := p.word(), fmt.Sprintf("%s%d", p.pick("C", "F", "H"), p.between(3, 90)), fmt.Sprintf("%d.%02d", p.between(100, 9000), p.IntN(100))
	for range p.between(3, 6) {
		written := fmt.Sprintf("%d.%02d", p.between(100, 9000), p.IntN(100))
		entries = append(entries,
			call("update_cells", object("spreadsheet_id", "1aBcD_"+sheet, "range", sheet+"!"+cell, "values", []string{written}, "value_input_option", p.pick("USER_ENTERED", "RAW")), object("updatedRange", sheet+"!"+cell, "updatedRows", 1, "updatedColumns", 1, "updatedCells", 1)),
			call("get_sheet_data", object("spreadsheet_id", "1aBcD_"+sheet, "range", sheet+"!"+p.pick(cell, cell+":"+cell)), object("range", sheet+"!"+cell, "majorDimension", "ROWS", "values", []string{old})))
	}
	return entries, 2
}

// eventAnHourOff deletes an event and creates it anew, and each time it stands an hour late.
func eventAnHourOff(p *generator) (entries []entry, _ int) {
	day, title, hour := p.clock()[:10], p.phrase(2, 3), p.between(9, 15)
	for range p.between(3, 5) {
		id := fmt.Sprintf("%013x%013x", p.Uint64N(1<<52), p.Uint64N(1<<52))
		start := fmt.Sprintf("%sT%02d:00:00", day, hour) + p.pick("", "Z", "+00:00")
		entries = append(entries,
			call("calendar_create_event", object("calendarId", "primary", "summary", title, "start", start, "timeZone", p.pick("UTC", "Europe/Berlin", "Etc/UTC", "")), object("id", id, "status", "confirmed", "htmlLink", "https://calendar.example/event?eid="+id)),
			call("calendar_get_event", object("calendarId", "primary", "eventId", id), object("id", id, "summary", title, "start", fmt.Sprintf("%sT%02d:00:00+01:00", day, hour+1), "updated", p.clock())),
			call("calendar_delete_event", object("calendarId", "primary", "eventId", id), object("success", true)),
			say(p.pick("The event is an hour late. I'll delete it and create it again.", "It shows up one hour off. Let me recreate it.", "Wrong hour again, so I create it anew.", "That's off by an hour. Removing it and trying again.")))
	}
	return entries, 4
}

// dialogBlocksTools goes on clicking and typing while a dialog of the page is open.
func dialogBlocksTools(p *generator) (entries []entry, _ int) {
	dialog := p.pick("beforeunload\" dialog with message \"", "confirm\" dialog with message \"Are you sure?", "alert\" dialog with message \"Session will expire in 1 minute.")
	for range p.between(4, 8) {
		tool, args := "browser_click", object("element", p.phrase(1, 2), "ref", fmt.Sprintf("e%d", p.between(3, 200)))
		switch p.IntN(5) {
		case 0:
			tool, args = "browser_snapshot", object()
		case 1:
			tool, args = "browser_press_key", object("key", p.pick("Escape", "Enter", "Tab"))
		case 2:
			tool, args = "browser_evaluate", object("function", p.pick("() => document.title", "() => window.location.reload()", "() => document.body.click()"))
		}
		entries = append(entries, failed(tool, args, fmt.Sprintf("### Error\nError: Tool %q does not handle the modal state.\n### Modal state\n- [\"%s\"]: can be handled by browser_handle_dialog", tool, dialog)))
	}
	return entries, 1
}

// lightUnavailable switches a light on, which the service accepts, and the light stays unavailable.
func lightUnavailable(p *generator) (entries []entry, _ int) {
	entity := "light." + p.word() + "_" + p.pick("lamp", "ceiling", "strip")
	for range p.between(3, 6) {
		service, data := p.pick("turn_on", "turn_on", "toggle", "turn_off"), p.pick("{}", fmt.Sprintf("{\"brightness\":%d}", p.between(50, 255)), fmt.Sprintf("{\"brightness_pct\":%d}", p.between(10, 100)))
		entries = append(entries,
			call("ha_call_service", object("domain", "light", "service", service, "entity_id", entity, "data", data), object("success", true, "changed_states", []string{}, "context_id", p.uuid())),
			call("ha_get_state", object("entity_id", entity), object("entity_id", entity, "state", "unavailable", "last_changed", "2026-03-02T07:11:45Z", "last_reported", p.clock())))
	}
	return entries, 2
}

// illegalMove plays one move of chess that is not legal, in other notations.
func illegalMove(p *generator) (entries []entry, _ int) {
	fen := "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4"
	for range p.between(4, 7) {
		move, notation := p.pick("Qh5", "Qd1-h5", "Qh5+", "Bxf8", "O-O-O", "e5"), "san"
		if p.IntN(3) == 0 {
			move, notation = p.pick("d1h5", "e4e5", "c4f8", "e1c1"), "uci"
		}
		entries = append(entries,
			say(p.pick("I see a strong continuation here. Playing ", "The best move must be ", "Let me try ", "Then the plan is ")+move+"."),
			failed("make_move", object("game_id", "g1", "move", move), fmt.Sprintf("illegal %s: '%s' in %s", notation, move, fen)))
	}
	return entries, 3
}

// pickaxeNeedsIron tries to craft a thing, lacks iron, finds none where it digs, and tries again.
func pickaxeNeedsIron(p *generator) (entries []entry, _ int) {
	x, z, wood := p.between(-400, 400), p.between(-400, 400), p.pick("iron_pickaxe", "bucket", "shears")
	for range p.between(3, 5) {
		entries = append(entries,
			call("execute_skill", object("code", "await craftItem(bot, \""+wood+"\", 1);"), object("chat", "I cannot make "+wood+" because I need: "+p.pick("3", "2")+" more iron_ingot, ", "health", 20, "food", p.between(12, 20))),
			call("execute_skill", object("code", fmt.Sprintf("await exploreUntil(bot, new Vec3(%d, %d, %d), %d, () => bot.findBlock({matching: mcData.blocksByName.iron_ore.id, maxDistance: 32}));", p.pickInt(-1, 0, 1), p.pickInt(-1, 0), p.pickInt(-1, 1), p.between(20, 60))), object("chat", "Max exploration time reached", "position", []int{x + p.IntN(9), p.between(58, 64), z + p.IntN(9)}, "nearby", []string{"grass_block", "dirt", "oak_log"})),
			call("execute_skill", object("code", "await mineBlock(bot, \"iron_ore\", "+fmt.Sprint(p.between(1, 4))+");"), object("chat", "No iron_ore nearby, please explore first", "position", []int{x + p.IntN(9), p.between(58, 64), z + p.IntN(9)})))
	}
	return entries, 3
}
