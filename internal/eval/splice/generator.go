package splice

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator makes the parts of a stretch: words, names, tools, calls.
type generator struct{ *rand.Rand }

// between returns a number from low to high, both included.
func (p *generator) between(low, high int) int { return low + p.IntN(high-low+1) }

func (p *generator) coin() bool { return p.IntN(2) == 0 }

func (p *generator) pick(of ...string) string { return of[p.IntN(len(of))] }

func (p *generator) pickInt(of ...int) int { return of[p.IntN(len(of))] }

// shuffled returns the strings in another order.
func (p *generator) shuffled(of ...string) []string {
	p.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	return of
}

var vocabulary = strings.Fields(`account address agent amount archive balance batch bridge budget buffer bundle cache carrier catalog
channel charge client cluster column contract counter coupon cursor customer dataset deadline delivery deposit device
digest domain driver employee endpoint engine export factor fixture flight folder format garden gateway grammar handler
harbor header history holiday import index invoice island journal kernel keyword ladder latency ledger library license
locale machine manifest margin market matrix meeting memory mirror module mountain network notice object offer office
option orchard order packet palette parcel parser partner patient payload pension permit picture pipeline planet policy
portal premium printer project protocol quality quarter queue quota range reader rebate receipt record region release
renewal report request reserve resource review river router sample scanner schedule schema season segment sensor server
session setting shipment signal socket source station storage stream summary supplier survey switch symbol template
tenant ticket timeline token traffic transfer treaty trigger tunnel update upgrade vector vendor version village voucher
wallet warehouse weather widget window winter worker workspace`)

// words returns n words, each chosen anew.
func (p *generator) words(n int) []string {
	words := make([]string, n)
	for k := range words {
		words[k] = vocabulary[p.IntN(len(vocabulary))]
	}
	return words
}

func (p *generator) word() string { return p.words(1)[0] }

// phrase returns from low to high words.
func (p *generator) phrase(low, high int) string {
	return strings.Join(p.words(p.between(low, high)), " ")
}

// sentence returns what an agent may think before it acts.
func (p *generator) sentence() string {
	return p.pick("Next I look at the", "Let me check the", "I need the", "Perhaps it has to do with the", "Now for the", "That leaves the") +
		" " + p.phrase(2, 5) + p.pick(".", ", then go on with the ", " because of the ") + p.phrase(2, 6) + "."
}

// page returns some lines of text.
func (p *generator) page() string {
	lines := make([]string, p.between(3, 12))
	for k := range lines {
		lines[k] = p.phrase(4, 9)
	}
	return strings.Join(lines, "\n")
}

func (p *generator) path() string {
	return strings.Join(p.words(p.between(1, 3)), "/") + "/" + p.word() + p.pick(".go", ".py", ".ts", ".md", ".yaml", ".txt")
}

func (p *generator) uuid() string {
	return fmt.Sprintf("%08x-%04x-4%03x-a%03x-%012x", p.Uint32(), p.IntN(1<<16), p.IntN(1<<12), p.IntN(1<<12), p.Uint64N(1<<48))
}

func (p *generator) id() string {
	return fmt.Sprintf("%s-%d", p.pick("ord", "acc", "job", "usr", "inv"), p.between(1000, 999999))
}

// clock returns a time of day on some day of 2026.
func (p *generator) clock() string {
	return fmt.Sprintf("2026-%02d-%02dT%02d:%02d:%02dZ", p.between(1, 12), p.between(1, 28), p.IntN(24), p.IntN(60), p.IntN(60))
}

// call returns some call that reads something, with a result of its own.
func (p *generator) call() entry {
	switch p.IntN(6) {
	case 0:
		return call("read_file", object("path", p.path()), quoted(p.page()))
	case 1:
		return p.search(p.phrase(2, 5))
	case 2:
		command := p.pick("ls -la ", "grep -rn "+p.word()+" ", "git log --oneline ", "find . -path ") + p.path()
		return call("bash", object("command", command), quoted("<returncode>0</returncode>\n<output>\n"+p.page()+"\n</output>"))
	case 3:
		what := p.pick("order", "customer", "invoice", "ticket")
		return call("get_"+what, object(what+"_id", p.id()), object("state", p.phrase(1, 3), "note", p.phrase(4, 12)))
	case 4:
		query := "SELECT " + p.word() + " FROM " + p.word() + " WHERE " + p.word() + " = " + fmt.Sprint(p.between(1, 9999))
		return call("query_database", object("query", query), object("rows", p.words(p.between(2, 8))))
	}
	return call("fetch_page", object("url", "https://"+p.word()+".example/"+p.word()+"/"+p.word()), quoted(p.page()))
}

// search returns a search with a result of its own.
func (p *generator) search(query string) entry {
	return call(p.pick("search", "web_search", "search_docs"), object("query", query), object("results", p.words(p.between(3, 8))))
}

// edit returns a change of a file, with texts of its own.
func (p *generator) edit(path string) entry {
	return call("edit_file", object("path", path, "old_string", p.phrase(3, 8), "new_string", p.phrase(3, 8)), quoted("The file "+path+" has been updated."))
}
