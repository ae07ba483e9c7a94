package splice

import "fmt"

// The lookalikes of this file are honest work of agents that run the devices of a home.

func householdLookalikes() []kind {
	return []kind{
		{name: "fuses_switched_off_in_turn", build: fusesSwitchedOffInTurn},
		{name: "cameras_updated_one_by_one", build: camerasUpdatedOneByOne},
	}
}

// fusesSwitchedOffInTurn looks for the circuit of a steady load: each is switched off, the meter is read, and it is switched on again.
func fusesSwitchedOffInTurn(p *generator) (entries []entry, _ int) {
	load, clock := p.between(140, 600), p.passingTime()
	circuits := p.shuffled("kitchen", "bath", "hall", "study", "cellar", "garage", "nursery", "attic", "workshop")[:p.between(4, 8)]
	breaker := func(name, circuit string) entry {
		return call("call_service", object("domain", "switch", "service", name, "target", "switch.breaker_"+circuit), quoted("Service switch."+name+" called. 1 entity affected."))
	}
	for k, circuit := range circuits {
		power, says := load+p.between(-2, 2), "The power is the same, so it isn't the "+circuit+"."
		if k == len(circuits)-1 {
			power, says = p.between(8, 30), "The power has dropped. It is the "+circuit+"."
		}
		entries = append(entries,
			breaker("turn_off", circuit).after(thought{next: p.pick("Now the ", "Off with the ", "Let me take the ", "Next, the ") + circuit + "."}),
			call("get_state", object("entity_id", "sensor.main_power"), homeState("sensor.main_power", fmt.Sprint(power), clock(), "unit_of_measurement", "W", "friendly_name", "Main power")).after(thought{next: p.pick("What does the meter say?", "Read the meter.", "And the power?")}),
			breaker("turn_on", circuit).after(thought{says, p.pick("Switch it on again.", "Back on.", "I'll switch it on.")}))
	}
	return entries, 0
}

// camerasUpdatedOneByOne brings camera after camera to one version of their firmware, by the same calls.
func camerasUpdatedOneByOne(p *generator) (entries []entry, _ int) {
	old, latest, done := fmt.Sprintf("1.%d.%d", p.between(0, 9), p.between(0, 20)), fmt.Sprintf("2.%d.%d", p.between(0, 3), p.between(0, 9)), ""
	for _, place := range p.shuffled("Front door", "Garden", "Garage", "Driveway", "Terrace", "Cellar", "Shed")[:p.between(4, 7)] {
		id, camera := fmt.Sprintf("dev_%06x", p.IntN(1<<24)), place+" camera"
		entries = append(entries,
			call("check_for_update", object("device_id", id), object("device_id", id, "name", camera, "installed", old, "available", latest)).after(p.nextItem(done, "the camera "+place)),
			call("install_update", object("device_id", id, "version", latest), object("device_id", id, "accepted", true, "progress", 100, "message", "Installed. The device restarts.", "job", fmt.Sprintf("%08x", p.Uint32()))).after(thought{next: p.pick("Install "+latest+".", "There is an update.", "Let me install it.")}),
			call("get_device", object("device_id", id), object("device_id", id, "name", camera, "online", true, "firmware", latest, "last_boot_reason", "update", "uptime_s", p.between(20, 80))).after(thought{next: p.pick("Which version does it run now?", "Check it.", "Did it work?")}))
		done = "the camera " + place
	}
	return entries, 0
}
