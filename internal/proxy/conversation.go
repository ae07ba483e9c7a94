package proxy

import (
	"encoding/binary"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// keptMarks is how many of the latest items of a history are known by their place. Clients rewrite the latest ones only:
// they move the mark of the cache, which is in one of the last four.
const keptMarks = 8

// conversation is a history as far as it was folded. The next request of a conversation contains the same items and a few
// more.
type conversation struct {
	key string // the id of its first run

	mu      sync.Mutex
	run     string           // the id of the run
	runs    int              // histories with the same first items
	profile *profile.Profile // of the session
	session *profile.Session
	members members // of the latest request, before its history
	items   int     // folded
	chain   uint64  // hash of all folded items
	marks   []mark  // of the latest items, at most keptMarks
	turn    turn

	decoder *decoder
	owner   *conversations

	sequence      int64  // of the latest event
	latest        string // the id of the latest response
	previous      string // the id of the response that the latest request continues
	previousItems uint64 // hash of the items of that request

	orders atomic.Pointer[orders] // of people to the run; written under the lock
	halted bool                   // by a person
	halt   string                 // the id of the order
	nudge  personsNudge           // the latest one of a person
}

// mark is the place of an item in the latest request.
type mark struct {
	end    int    // the offset behind the item
	prefix uint64 // hash of the request up to there
	item   uint64 // item.hash
}

// turn is the decision since the model's latest message or call.
type turn struct {
	model    bool // the latest event is the model's
	person   bool // the latest event is a person's message
	decision policy.Decision
	message  string // the text for the agent
	nudge    string // the same; "" if the agent has read it before
	last     string // the finding that the agent was told of last
	report   unloop.GuardReport
}

// begin forgets the folded history and begins a run. The first run of a conversation has the conversation's key as its id.
func (c *conversation) begin(s *conversations) {
	c.run = c.key
	if c.runs++; c.runs > 1 {
		c.run += "#" + strconv.Itoa(c.runs)
	}
	c.owner, c.profile, c.decoder = s, s.profile.Load(), newDecoder(c.run)
	c.session = c.profile.NewSession(c.run)
	c.items, c.chain, c.marks, c.turn = 0, 0, nil, turn{}
	c.sequence, c.latest, c.previous = 0, "", ""
	c.orders.Load().end()
	c.orders.Store(listen(c.run, s.controls))
	c.halted, c.nudge = false, personsNudge{}
}

// isPersons reports whether an event is a message of a person.
func isPersons(e *unloop.Event) bool {
	return e.Type == unloop.MessageSent && e.Role == unloop.RoleUser
}

// add folds an event.
func (c *conversation) add(e *unloop.Event) {
	model := e.Type == unloop.ToolCallStarted || e.Type == unloop.MessageSent && e.Role == unloop.RoleAssistant
	person := isPersons(e)
	if person || model && !c.turn.model {
		c.turn.decision, c.turn.nudge = policy.Decision{}, ""
	}
	c.turn.model, c.turn.person = model, person
	d := c.session.Add(e)
	if d.Action <= c.turn.decision.Action {
		return
	}
	c.turn.report = policy.GuardReport(guardName, d.Action, d.Code, d.Message, d.Count, d.Findings)
	c.turn.decision = d
	c.turn.decision.Findings = nil // they are valid until the next event only
	c.turn.message = d.Message
	if finding := d.Code + "\x00" + d.Rule + "\x00" + d.Subject; finding != c.turn.last {
		c.turn.last, c.turn.nudge = finding, c.turn.message
	}
}

// known returns the request as far as it is not known: the bytes up to an item are those of the latest request, and the items
// behind it that were folded are the same. It returns nil if the request does not continue the latest one.
func (c *conversation) known(body []byte, list string) *request {
	from := -1
	for i, prefix := range prefixes(body, c.marks) {
		if prefix == c.marks[i].prefix {
			from = i
		}
	}
	if from < 0 {
		return nil
	}
	at := c.marks[from]
	folded := c.marks[from+1:]
	r, err := resume(body, at.end, c.items-len(folded), c.members, list)
	if err != nil || len(r.items) < len(folded) {
		return nil
	}
	for i, m := range folded {
		if r.items[i].hash() != m.item {
			return nil
		}
	}
	return r
}

// prefixes returns the hashes of the first bytes of body up to each mark that it reaches.
func prefixes(body []byte, marks []mark) []uint64 {
	h := xxh3.New()
	var sums []uint64
	done := 0
	for _, m := range marks {
		if m.end > len(body) {
			break
		}
		_, _ = h.Write(body[done:m.end]) // a hash cannot fail
		done = m.end
		sums = append(sums, h.Sum64())
	}
	return sums
}

// contains reports whether the history of a whole request begins with all items that were folded.
func (c *conversation) contains(r *request) bool {
	if len(r.items) < c.items {
		return false
	}
	chain := uint64(0)
	for n := range c.items {
		chain = chained(chain, r.items[n].hash())
	}
	return chain == c.chain
}

// fold folds the items of the request that were not folded yet. The conversation must contain the others. Orders of people before
// the request precede its items.
func (c *conversation) fold(a api, r *request) error {
	c.obeyOrders()
	if err := c.foldItems(a, r.items[min(max(0, c.items-r.skipped), len(r.items)):]); err != nil {
		return err
	}
	c.remember(r)
	return nil
}

// remember keeps the places of the latest items of the request.
func (c *conversation) remember(r *request) {
	if r.end < 0 { // the history is one text
		c.marks = nil
		return
	}
	kept := make([]mark, 0, keptMarks)
	if r.skipped > 0 { // the places of the items that were left out are still right
		for _, m := range c.marks {
			if len(r.items) == 0 || m.end <= r.items[0].end-len(r.items[0].value) {
				kept = append(kept, m)
			}
		}
	} else {
		c.members = r.members
	}
	for n := max(0, len(r.items)-keptMarks); n < len(r.items); n++ {
		kept = append(kept, mark{end: r.items[n].end, item: r.items[n].hash()})
	}
	c.marks = kept[max(0, len(kept)-keptMarks):]
	for i, sum := range prefixes(r.body, c.marks) {
		c.marks[i].prefix = sum
	}
}

// chained returns the hash of a list with one more item.
func chained(chain, item uint64) uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], chain)
	binary.LittleEndian.PutUint64(b[8:], item)
	return xxh3.Hash(b[:])
}
