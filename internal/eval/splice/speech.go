package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are in messages of the agent.

// alikeMessages are one message with another word or number each time.
func alikeMessages(p *generator) ([]entry, int) {
	opening, topic, ending := p.sentence(), p.phrase(4, 8), p.sentence()
	var entries []entry
	for k := range p.between(5, 9) {
		small := p.pick("now ", "still ", "again ", "", fmt.Sprintf("(attempt %d) ", k+1))
		entries = append(entries, say(opening+" I am "+small+"working on the "+topic+". "+ending))
	}
	return entries, 1
}

// repeatingText is one message; its onset is the message itself.
func repeatingText(p *generator) ([]entry, int) {
	passage := p.pick("", "\n", "- ") + p.phrase(3, 25) + p.pick(". ", "\n", ", ")
	return []entry{say(p.sentence() + " " + strings.Repeat(passage, p.between(10, 30)))}, 0
}
