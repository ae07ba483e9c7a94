package splice

import (
	"encoding/json"
	"fmt"
)

// The loops of this file are those of agents that run the devices of a home.

func householdLoops() []kind {
	return []kind{
		{name: "vacuum_stops_at_same_error", build: vacuumStopsAtSameError},
		{name: "update_offered_again", build: updateOfferedAgain},
	}
}

// homeState returns the state of an entity as Home Assistant gives it.
func homeState(id, state, at string, attributes ...any) json.RawMessage {
	return object("entity_id", id, "state", state, "attributes", object(attributes...), "last_changed", at)
}

// vacuumStopsAtSameError starts a robot, which stops with a tangled brush, and sends it back; nobody frees the brush.
func vacuumStopsAtSameError(p *generator) (entries []entry, _ int) {
	id, name, battery, clock := "vacuum."+p.pick("rosie", "downstairs", "dusty"), p.pick("Rosie", "Dusty", "Downstairs vacuum"), p.between(60, 99), p.passingTime()
	reason := p.pick("Error 5: main brush jammed. Clean the main brush.", "Error 17: side brush error. Remove hair from the side brush.")
	service := func(name string) entry {
		return call("call_service", object("domain", "vacuum", "service", name, "target", id), quoted("Service vacuum."+name+" called. 1 entity affected."))
	}
	words := wording{
		first: []string{"I'll start the vacuum.", "Let me start cleaning."},
		seen:  []string{"It is back at the base.", "The robot is docked again.", "It has returned.", "The error is gone from the display."},
		next:  []string{"Let me start it again.", "I'll start the cleaning again.", "Starting it once more.", "Let me run it again."},
	}
	for round := range p.between(3, 5) {
		battery -= p.between(0, 1)
		action := "start"
		if round > 0 {
			action = p.pick("start", "start", "clean_spot")
		}
		entries = append(entries,
			service(action).after(words.of(p, round)),
			call("get_state", object("entity_id", id), homeState(id, "error", clock(), "friendly_name", name, "battery_level", battery, "error", reason, "cleaned_area", 0)).after(thought{next: p.pick("Is it cleaning?", "Let me check the state.", "What does it do?")}),
			service("return_to_base").after(thought{p.pick("It reports an error.", "The robot has stopped."), p.pick("I'll send it back to the base.", "Back to the base first.", "Let me dock it.")}))
	}
	return entries, 3
}

// updateOfferedAgain installs the firmware of a device, which restarts with the old one and offers the update again.
func updateOfferedAgain(p *generator) (entries []entry, _ int) {
	device, old := p.pick("Doorbell", "Garage hub", "Living room speaker", "Boiler gateway"), fmt.Sprintf("2.%d.%d", p.between(0, 4), p.between(0, 20))
	latest, id, clock := fmt.Sprintf("2.%d.%d", p.between(5, 9), p.between(0, 9)), fmt.Sprintf("dev_%06x", p.IntN(1<<24)), p.passingTime()
	words := wording{
		first: []string{"Let me see whether there is an update for the " + device + ".", "First I check for updates."},
		seen:  []string{"It still runs " + old + ".", "The version is the old one.", "The version hasn't changed.", "The update did not take effect."},
		next:  []string{"Let me check for updates again.", "Is the update still offered?", "I'll look for the update again.", "Let me repeat the update."},
	}
	for round := range p.between(3, 5) {
		entries = append(entries,
			call("check_for_update", object("device_id", id), object("device_id", id, "installed", old, "available", latest, "size_mb", 48, "checked_at", clock())).after(words.of(p, round)),
			call("install_update", object("device_id", id, "version", latest), object("device_id", id, "accepted", true, "progress", 100, "message", p.pick("Installed. The device restarts.", "Update written, restarting."), "job", fmt.Sprintf("%08x", p.Uint32()))).after(thought{next: p.pick("Installing "+latest+".", "Let me install it.", "I'll install the update.")}),
			call("get_device", object("device_id", id), object("device_id", id, "name", device, "online", true, "firmware", old, "last_boot_reason", "rollback", "uptime_s", p.between(20, 80))).after(thought{next: p.pick("Which version does it run now?", "Let me check the device.", "Did it work?")}))
	}
	return entries, 3
}
