package profile

import (
	"fmt"
	"strings"
)

// refrain is one message that comes between others of its agent.
func refrain() string {
	words := strings.Fields("amber birch cedar delta ember fjord grove heron inlet juniper kelp lagoon meadow nectar oasis prairie quartz reed")
	var trace strings.Builder
	for k := range 9 {
		fmt.Fprintf(&trace, "say Let me look at the parser once more before I go on with it.\nsay %s.\n", strings.Join(append(words[2*k:], words[:2*k]...)[:9], fmt.Sprintf(" %c", 'a'+k)))
	}
	return trace.String()
}

// questions ask for one thing in other words each time, and find the same.
func questions() string {
	var trace strings.Builder
	for _, query := range []string{
		"boiling point of ethanol", "ethanol boiling point", "what is the boiling point of ethanol", "boiling point for pure ethanol",
		"ethanol: its boiling point please", "boiling point of ethanol explained", "find the boiling point of ethanol", "ethanol boiling point guide",
		"details on the ethanol boiling point",
	} {
		fmt.Fprintf(&trace, "call search {\"query\":%q}\nresult search wiki/Ethanol and two more\n", query)
	}
	return trace.String()
}

// phrases are messages of one agent that are new, and between them one and the same message of another.
func phrases() string {
	words := strings.Fields("amber birch cedar delta ember fjord grove heron inlet juniper kelp lagoon meadow nectar oasis prairie quartz reed")
	var trace strings.Builder
	for k := range 9 {
		fmt.Fprintf(&trace, "say proxy: Please go on until the problem is solved, and put the answer into a box.\nsay solver: %s.\n",
			strings.Join(append(words[2*k:], words[:2*k]...)[:9], fmt.Sprintf(" %c", 'a'+k)))
	}
	return trace.String()
}

// drafts is a long text that is sent again and again, each time with another sentence in it.
func drafts() string {
	var trace strings.Builder
	for k := range 9 {
		tail := string(rune('a' + k)) // of words that no other message has
		fmt.Fprintf(&trace, "say The museum of the town keeps its boats in the long hall by the river. One%[1]s two%[1]s three%[1]s four%[1]s five%[1]s "+
			"six%[1]s seven%[1]s eight%[1]s nine%[1]s ten%[1]s. Its oldest boat was built by a miller who could not swim and wanted to visit his "+
			"sister on the other bank without a walk of half a day. The newest came as a gift of the fire brigade after the flood, in which it had "+
			"saved a choir, two goats and the archive of the parish. Between the two stand ferries, barges and a punt in which, it is said, the "+
			"treaty was signed. Ticket number%[1]s costs less for pupils, widows, sailors and whoever rows there alone. On Sundays a guide tells "+
			"children how eels were smoked, why nobody fished near the bridge, and which of these hulls leaks still. Upstairs hang nets, lamps, "+
			"oars, anchors, drawings of locks that were planned but never dug, and letters from emigrants thanking the harbour master for his "+
			"patience. Behind glass lies one shoe, found under the keel during repairs; its owner has been sought ever since, most recently by a "+
			"radio station whose listeners proposed forty names, among them two bishops and a famous clown.\n", tail)
	}
	return trace.String()
}
