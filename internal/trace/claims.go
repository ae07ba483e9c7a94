package trace

// claimKey is what model calls of a trace can have in common: the run that they name, the conversation, and a message of it. A message
// is its hash, or one of the values below. A conversation of 0 stands for all conversations of the run.
type claimKey struct {
	run                   string
	conversation, message uint64
}

// Values of a message in a claimKey.
const (
	opening  = iota // the call opens the conversation
	anything        // the call belongs to the conversation
	firstHash
)

// claimSize is the approximate memory in bytes of the claims of a model call with messages.
const claimSize = 400

// claim is the model calls that have something in common. The first of them has it for all of them.
type claim struct {
	first  *node
	others map[*node]struct{} // nil for none
}

// all calls take with each call.
func (c *claim) all(take func(*node)) {
	if c == nil {
		return
	}
	take(c.first)
	for n := range c.others {
		take(n)
	}
}

// claim adds a call to those of a key. It returns the call that was the first before and the one that is now; nil for none.
func (t *Trace) claim(key claimKey, n *node) (was, now *node) {
	c := t.claims[key]
	if c == nil {
		if t.claims == nil {
			t.claims = make(map[claimKey]*claim)
		}
		t.claims[key] = &claim{first: n}
		return nil, n
	}
	if was = c.first; was == n {
		return n, n
	}
	if c.others == nil {
		c.others = make(map[*node]struct{})
	}
	if byStart(n, was) < 0 {
		delete(c.others, n)
		c.first, n = n, was
	}
	c.others[n] = struct{}{}
	return was, c.first
}

// disclaim removes a call from those of a key. It returns the same as claim.
func (t *Trace) disclaim(key claimKey, n *node) (was, now *node) {
	c := t.claims[key]
	if c == nil {
		return nil, nil
	}
	if was = c.first; was != n {
		delete(c.others, n)
		return was, was
	}
	for m := range c.others {
		if now == nil || byStart(m, now) < 0 {
			now = m
		}
	}
	if now == nil {
		delete(t.claims, key)
		return was, nil
	}
	delete(c.others, now)
	c.first = now
	return was, now
}

// registerMessages records the messages of a span, and which conversation they belong to.
func (t *Trace) registerMessages(n *node) {
	if n.span.Kind == Model && n.span.Messages != "" {
		t.size += claimSize
		t.eachClaim(n, t.claim)
	}
}

// unregisterMessages removes what registerMessages recorded.
func (t *Trace) unregisterMessages(n *node) {
	if n.span.Kind == Model && n.span.Messages != "" {
		t.size -= claimSize
		t.eachClaim(n, t.disclaim)
	}
}

// eachClaim changes the claims of a span, and marks the spans whose messages may change with them.
func (t *Trace) eachClaim(n *node, change func(claimKey, *node) (was, now *node)) {
	m := n.span.messages()
	key := claimKey{run: n.span.Run, conversation: m.root()}
	n.conversation = key.conversation
	for i := range m.Input {
		key.message = m.Input[i].hash()
		if was, now := change(key, n); was != now {
			t.touchSome(was)
			t.touchSome(now)
		}
	}
	if key.conversation == 0 {
		return
	}
	key.message = anything
	members := key
	change(members, n)
	if !m.Opens {
		return
	}
	key.message = opening
	if was, now := change(key, n); was == nil || now == nil {
		t.claims[members].all(t.touched)
	}
	t.changeMain(n, change)
}

// changeMain changes the calls that open a conversation of the run. The first of them opens the conversation that is read.
func (t *Trace) changeMain(n *node, change func(claimKey, *node) (was, now *node)) {
	was, now := change(claimKey{run: n.span.Run}, n)
	if was == now || was != nil && now != nil && was.conversation == now.conversation {
		return
	}
	for _, first := range []*node{was, now} {
		if first != nil {
			t.claims[claimKey{n.span.Run, first.conversation, anything}].all(t.touched)
		}
	}
}

func (t *Trace) touchSome(n *node) {
	if n != nil {
		t.touched(n)
	}
}

// reads reports whether the messages of a span are read. Of the conversations that begin in a trace only the first is the run's. Others
// are those of sub-agents, or of steps with prompts of their own, whose messages come from the program. A conversation whose beginning
// is in no span continues one of another trace, or one whose history was replaced by a summary.
func (t *Trace) reads(s *Span, m *Messages) bool {
	root := m.root()
	main := t.claims[claimKey{run: s.Run}]
	if root == 0 || main == nil || root == main.first.conversation {
		return true
	}
	return !m.Opens && t.claims[claimKey{s.Run, root, opening}] == nil
}

// speaksFor reports whether n gives the event of a message, of all calls that have it.
func (t *Trace) speaksFor(n *node, key claimKey) bool {
	c := t.claims[key]
	return c == nil || c.first.canonical() == n
}
