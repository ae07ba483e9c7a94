package proxy

import (
	"strconv"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
)

// ordered is an agent behind a proxy whose run a person controls.
type ordered struct {
	*agent
	upstream *upstream
	proxy    *Proxy
	order    func(*unloop.Event)
	recorded *recorded
}

func newOrdered(t *testing.T, name string, mode Mode) *ordered {
	o := &ordered{upstream: newUpstream(t), recorded: &recorded{}}
	s, p := start(t, o.upstream, func(options *Options) {
		options.Mode, options.Record = mode, o.recorded.add
		options.Controls = func(_ string, take func(*unloop.Event)) func() {
			o.order = take
			return func() {}
		}
	})
	o.proxy = p
	d := dialects[name]
	o.agent = &agent{dialect: d, t: t, base: s.URL, items: []string{d.says("find it")}}
	o.ask()
	return o
}

// passes reports whether a request with the items reaches the model.
func (o *ordered) passes(items ...string) bool {
	o.t.Helper()
	o.items = append(o.items, items...)
	o.upstream.last()
	o.ask()
	return o.upstream.last() != nil
}

func TestANewMessageOfAPersonLiftsTheHaltThatPrecedesIt(t *testing.T) {
	halt := &unloop.Event{Type: unloop.Control, Name: unloop.ControlHalt, Text: "Enough."}
	for name := range dialects {
		for _, mode := range []Mode{Observe, Guard} {
			t.Run(name+" in the mode "+string(mode), func(t *testing.T) {
				o := newOrdered(t, name, mode)
				o.order(halt)
				if o.passes() {
					t.Error("the same request passes after a halt")
				}
				if o.passes(o.calls("c1", "ls", "a")...) {
					t.Error("a result passes after a halt")
				}
				if !o.passes(o.says("look into the archive")) || !o.passes() || !o.passes(o.calls("c2", "cat b", "c")...) {
					t.Error("the person's message did not lift the halt")
				}
				o.order(halt)
				if o.passes() {
					t.Error("a halt behind the message does not hold")
				}
				released := o.recorded.of(unloop.Control)
				if len(released) != 1 || released[0].Name != unloop.ControlResume || !strings.Contains(string(released[0].Metadata), "a new message of a person") {
					t.Errorf("the recorded orders are %+v, want one resume", released)
				}
			})
		}
	}
}

func TestANewMessageOfAPersonEndsThePauseThatPrecedesIt(t *testing.T) {
	o := newOrdered(t, "anthropic", Guard)
	o.order(&unloop.Event{Type: unloop.Control, Name: unloop.ControlPause})
	o.items = append(o.items, o.calls("c1", "ls", "a")...)
	v, err := o.proxy.judgeInTime(anthropic{}, []byte(o.body(o.items, true)), "", lease(1<<20))
	if err != nil || v.paused == nil {
		t.Fatalf("a request of a paused run does not wait: %v", err)
	}
	if !o.passes(o.says("look into the archive")) {
		t.Error("the person's message waits")
	}
	<-v.paused
}

func TestANudgeOfAPersonGoesWithAHistoryOfOneText(t *testing.T) {
	o := newOrdered(t, "responses", Observe)
	o.body = func([]string, bool) string { return `{"model":"m","input":"find it"}` }
	o.ask()
	o.order(&unloop.Event{Type: unloop.Control, Name: unloop.ControlNudge, Text: "Look into the archive."})
	o.upstream.last()
	o.ask()
	want := `{"input":[{"role":"user","content":"find it"},{"content":[{"text":"[unloop] A person who watches this run says: Look into the archive.",` +
		`"type":"input_text"}],"role":"user","type":"message"}],"model":"m"}`
	if got := string(o.upstream.last()); got != want {
		t.Errorf("the request is %s, want %s", got, want)
	}
}

func TestAConversationThatIsForgottenListensToNoOrders(t *testing.T) {
	listening := make(map[string]func(*unloop.Event))
	d := dialects["anthropic"]
	_, p := start(t, newUpstream(t), func(o *Options) {
		o.MaxMemory = 1
		o.Controls = func(run string, take func(*unloop.Event)) func() {
			listening[run] = take
			return func() { delete(listening, run) }
		}
	})
	judge := func(text string) verdict {
		t.Helper()
		v, err := p.judgeInTime(anthropic{}, []byte(d.body([]string{d.says(text)}, true)), "", lease(1<<20))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := judge("find it")
	for k := range 10 {
		judge("find " + strconv.Itoa(k))
	}
	if len(listening) != 1 || listening[first.run] != nil {
		t.Errorf("%d conversations listen, want the latest one", len(listening))
	}
	paused := judge("find it")
	listening[paused.run](&unloop.Event{Type: unloop.Control, Name: unloop.ControlPause})
	waits := judge("find it").paused
	judge("find another")
	if listening[paused.run] == nil {
		t.Fatal("a paused conversation does not listen")
	}
	listening[paused.run](&unloop.Event{Type: unloop.Control, Name: unloop.ControlResume})
	<-waits
}

func TestAConversationThatIsJudgedWhileItIsForgottenListensAgain(t *testing.T) {
	o := newOrdered(t, "anthropic", Guard)
	o.proxy.conversations.mu.Lock()
	_, e, _ := o.proxy.conversations.kept.GetOldest()
	o.proxy.conversations.evict()
	o.proxy.conversations.mu.Unlock()
	o.proxy.conversations.put(e.conversation.key, e.conversation, e.bytes) // at the end of its judging
	o.order = nil
	if !o.passes(o.calls("c1", "ls", "a")...) || o.order == nil {
		t.Fatal("the conversation does not listen")
	}
	o.order(&unloop.Event{Type: unloop.Control, Name: unloop.ControlHalt})
	if o.passes() {
		t.Error("a request passes after a halt")
	}
}
