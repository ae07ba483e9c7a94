package splice

import (
	"fmt"
)

// The lookalikes of this file are honest work of agents that talk, play, look at pictures and read devices.

func fieldLookalikes() []kind {
	return []kind{
		{name: "offers_converge", build: offersConverge},
		{name: "lamps_switched", build: lampsSwitched},
		{name: "riddles_told", build: riddlesTold},
		{name: "specimens_classified", build: specimensClassified},
		{name: "registers_mapped", build: registersMapped},
		{name: "digits_placed", build: digitsPlaced},
		{name: "waypoints_photographed", build: waypointsPhotographed},
	}
}

// offersConverge has a buyer and a seller come closer with each offer, until they agree.
func offersConverge(p *generator) (entries []entry, _ int) {
	low := 10 * p.between(20, 60)
	high := low + 10*p.between(15, 25)
	for high-low > 30 {
		entries = append(entries,
			say(p.pick(fmt.Sprintf("I could go up to $%d.", low), fmt.Sprintf("Would you take $%d?", low), fmt.Sprintf("How about $%d?", low))).by("buyer"),
			say(p.pick(fmt.Sprintf("I can come down to $%d.", high), fmt.Sprintf("For you, $%d.", high), fmt.Sprintf("Let's say $%d.", high))).by("seller"))
		low, high = low+10*p.between(2, 4), high-10*p.between(2, 4)
	}
	return append(entries, say(fmt.Sprintf("$%d, and we have a deal.", (low+high)/2)).by("buyer"), say("Deal!").by("seller")), 0
}

// lampsSwitched switches lamp after lamp as a person says, with one and the same answer.
func lampsSwitched(p *generator) (entries []entry, _ int) {
	for _, room := range p.shuffled("kitchen", "hall", "bedroom", "office", "garage", "garden", "bathroom")[:p.between(4, 7)] {
		state := p.pick("on", "off")
		entries = append(entries, user(p.pick("Turn ", "Switch ", "Please turn ")+state+" the "+room+" light."), call("HassTurn"+map[string]string{"on": "On", "off": "Off"}[state], object("name", room+" light", "domain", "light"), object("speech", "", "response_type", "action_done", "success", []string{room + " light"})), say(p.pick("Done.", "OK.", "Turned "+state+" the light.")))
	}
	return entries, 0
}

// riddlesTold tells riddle after riddle, since a person asks for another one each time.
func riddlesTold(p *generator) (entries []entry, _ int) {
	riddles := p.shuffled("What has keys but can't open locks? A piano.", "What gets wetter the more it dries? A towel.", "What has hands but can't clap? A clock.", "What can you catch but not throw? A cold.", "What has a neck but no head? A bottle.", "What goes up but never comes down? Your age.", "What has one eye but can't see? A needle.")
	for _, riddle := range riddles[:p.between(4, 6)] {
		entries = append(entries, user(p.pick("Another one!", "One more, please.", "Tell me another.", "Again!")), say(p.pick("Here is another one: ", "OK! ", "How about this: ")+riddle))
	}
	return entries, 0
}

// specimensClassified looks at picture after picture, and finds the same few species.
func specimensClassified(p *generator) (entries []entry, _ int) {
	trap := p.between(1, 40)
	for shot := range p.between(7, 12) {
		entries = append(entries, call("classify_image", object("image", fmt.Sprintf("trap%02d/IMG_%04d.JPG", trap, 100+shot)), object("label", p.pick("blank", "blank", "roe deer", "wild boar", "blank", "red fox"), "score", fmt.Sprintf("0.%d", p.between(71, 99)))))
	}
	return entries, 0
}

// registersMapped reads address after address of a device, to find out which it has; many hold zero.
func registersMapped(p *generator) (entries []entry, _ int) {
	address := 100 * p.between(1, 40)
	for range p.between(7, 12) {
		args := object("port", "/dev/ttyUSB0", "slave", 1, "address", address, "count", 2)
		if p.IntN(4) == 0 {
			entries = append(entries, failed("modbus_read_holding_registers", args, "ExceptionResponse(dev_id=1, function_code=131, exception_code=2): illegal data address"))
		} else {
			entries = append(entries, call("modbus_read_holding_registers", args, object("address", address, "registers", []int{p.pickInt(0, 0, 0, p.IntN(4000)), 0})))
		}
		address += 2
	}
	return entries, 0
}

// digitsPlaced fills a sudoku cell by cell, and each digit is accepted.
func digitsPlaced(p *generator) (entries []entry, _ int) {
	left := p.between(9, 14)
	for ; left > 0; left-- {
		entries = append(entries, call("place_digit", object("row", left%9+1, "col", (4*left+left/9*3)%9+1, "digit", p.between(1, 9)), object("ok", true, "conflicts", []string{}, "empty_cells", left-1)))
	}
	return entries, 0
}

// waypointsPhotographed flies from place to place of a grid and takes a picture at each.
func waypointsPhotographed(p *generator) (entries []entry, _ int) {
	battery := p.between(80, 99)
	for k := range p.between(4, 7) {
		battery -= p.between(1, 4)
		entries = append(entries,
			call("goto_waypoint", object("north_m", 20*(k/3), "east_m", 20*(k%3), "alt_m", 40), object("reached", true, "battery_pct", battery, "gps_fix", "3D")),
			call("take_photo", object("camera", "nadir"), object("saved", fmt.Sprintf("DCIM/%04d.JPG", 200+k), "ok", true)))
	}
	return entries, 0
}
