package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that only talk, play, wander and reach for devices.

func fieldLoops() []kind {
	return []kind{
		{name: "thanks_exchanged", build: thanksExchanged},
		{name: "offers_repeated", build: offersRepeated},
		{name: "which_lamp", build: whichLamp},
		{name: "articles_walked", build: articlesWalked},
		{name: "villager_talked_to_again", build: villagerTalkedToAgain},
		{name: "register_without_response", build: registerWithoutResponse},
		{name: "keyboard_covers_button", build: keyboardCoversButton},
	}
}

// thanksExchanged has two agents thank each other and wish each other well.
func thanksExchanged(p *generator) (entries []entry, _ int) {
	what := p.phrase(1, 3)
	for range p.between(3, 6) {
		entries = append(entries,
			say(p.pick("Thank you so much for your help with the "+what+"! ", "Thanks again, I really appreciate it. ", "Wonderful, thank you! ", "It was great working with you. ")+p.pick("Have a wonderful day!", "Take care!", "All the best with the "+what+".", "Goodbye!", "Talk soon!")).by("concierge"),
			say(p.pick("You're very welcome! ", "My pleasure! ", "Likewise! ", "Thank you, too. It was a pleasure. ")+p.pick("Have a wonderful day as well!", "Feel free to reach out any time.", "Take care, and good luck with the "+what+"!", "All the best!", "Goodbye!")).by("guest_agent"))
	}
	return entries, 2
}

// offersRepeated has a buyer and a seller name the same two prices again.
func offersRepeated(p *generator) (entries []entry, _ int) {
	low := 10 * p.between(20, 90)
	high := low + 10*p.between(5, 12)
	for range p.between(3, 6) {
		entries = append(entries,
			say(p.pick("I like it, but ", "Given its condition, ", "Look, ", "I've compared others, and ", "As I said, ")+p.pick(fmt.Sprintf("my budget is $%d.", low), fmt.Sprintf("$%d is my final offer.", low), fmt.Sprintf("$%d is all I can do.", low), fmt.Sprintf("$%d seems fair to me.", low))).by("buyer"),
			say(p.pick("I understand, but ", "I appreciate your interest. Still, ", "Sorry, ", "With all the accessories, ", "There are other buyers, so ")+p.pick(fmt.Sprintf("I can't go below $%d.", high), fmt.Sprintf("$%d is already a great price.", high), fmt.Sprintf("my price remains $%d.", high), fmt.Sprintf("it has to be $%d.", high))).by("seller"))
	}
	return entries, 2
}

// whichLamp asks which of two lamps is meant, and does not take the answer.
func whichLamp(p *generator) (entries []entry, _ int) {
	room := p.pick("kitchen", "bedroom", "hall")
	for range p.between(3, 5) {
		entries = append(entries,
			say(p.pick("There are two: "+room+" light and "+room+" lamp. Which one?", "Which one did you mean, the "+room+" light or the "+room+" lamp?", "I found more than one device called "+room+" light. Which one should I turn off?", "Sorry, did you mean "+room+" light or "+room+" lamp?")),
			user(p.pick("the "+room+" light", "the light", "the first one", "the light, not the lamp", room+" LIGHT")))
	}
	return entries, 2
}

// articlesWalked follows links among five articles that all were read.
func articlesWalked(p *generator) (entries []entry, _ int) {
	titles, leads := p.shuffled("Elbe Lateral Canal", "Lock (water navigation)", "Ship lift", "Inland navigation", "Lüneburg", "Mittelland Canal", "Barge", "Henrichenburg boat lift")[:5], make([]string, 5)
	for k := range leads {
		leads[k] = p.phrase(20, 40)
	}
	read := func(k int) entry {
		return call("wikipedia_page", object("title", titles[k], "section", p.pick("lead", "", "summary")), object("title", titles[k], "extract", leads[k], "links", titles, "pageid", 1000+k))
	}
	for k := range titles {
		entries = append(entries, read(k))
	}
	at := 4
	for range p.between(7, 11) {
		at = (at + p.between(1, 4)) % 5
		entries = append(entries, read(at))
	}
	return entries, 5
}

// villagerTalkedToAgain presses buttons in front of a villager, who says the same three sentences in turn.
func villagerTalkedToAgain(p *generator) (entries []entry, _ int) {
	sentences, x, y, frame := []string{p.phrase(5, 9), p.phrase(5, 9), p.phrase(5, 9)}, p.between(2, 20), p.between(2, 20), p.between(1000, 90_000)
	for k := range p.between(9, 14) {
		frame += p.between(30, 400)
		buttons := p.pick("a", "a a", "b a", "up a", "a wait", "left right a")
		entries = append(entries, call("press_buttons", object("buttons", strings.Fields(buttons), "wait_frames", p.pickInt(30, 60, 120)), object("frame", frame, "map", "village", "position", []int{x, y}, "dialog", "VILLAGER: "+sentences[k%3]+".")))
	}
	return entries, 3
}

// registerWithoutResponse reads registers of a device that does not answer, with other settings of the line.
func registerWithoutResponse(p *generator) (entries []entry, _ int) {
	port := p.pick("/dev/ttyUSB0", "/dev/ttyS1", "/dev/ttyRS485")
	for range p.between(4, 8) {
		args := object("port", port, "baudrate", p.pickInt(9600, 19200, 38400), "parity", p.pick("N", "E"), "slave", p.between(1, 3), "address", p.pickInt(0, 1, 100, 30001, 40001), "count", p.between(1, 4))
		entries = append(entries, failed(p.pick("modbus_read_holding_registers", "modbus_read_holding_registers", "modbus_read_input_registers"), args, fmt.Sprintf("Modbus Error: [Input/Output] No response received after %d retries, continue with next request", p.between(1, 5))))
	}
	return entries, 1
}

// keyboardCoversButton taps where the keyboard covers the button, and reads the same screen; only its clock moves.
func keyboardCoversButton(p *generator) (entries []entry, _ int) {
	c, label, minute := p.console(), p.word(), p.between(600, 1200)
	for range p.between(4, 6) {
		minute += p.IntN(2)
		screen := fmt.Sprintf("<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"0\"><node index=\"0\" text=\"%d:%02d\" resource-id=\"com.android.systemui:id/clock\" bounds=\"[42,20][160,90]\"/><node index=\"1\" text=%q class=\"android.widget.EditText\" focused=\"true\" bounds=\"[48,400][1032,540]\"/><node index=\"2\" text=\"Continue\" class=\"android.widget.Button\" clickable=\"true\" bounds=\"[48,1780][1032,1920]\"/></hierarchy>UI hierchary dumped to: /dev/tty", minute/60, minute%60, label)
		entries = append(entries,
			c.run(fmt.Sprintf("adb shell input tap %d %d", p.between(480, 600), p.between(1790, 1910)), "", 0),
			c.run("adb exec-out uiautomator dump /dev/tty", screen, 0))
	}
	return entries, 2
}
