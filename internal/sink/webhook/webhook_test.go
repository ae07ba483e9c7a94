package webhook

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/sink"
	"github.com/unloop-ai/unloop/internal/sink/sinktest"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

func TestLevelsOfNotices(t *testing.T) {
	for _, c := range []struct {
		what    string
		updates []*store.Update
		want    []string
	}{
		{"a warning that is raised", []*store.Update{raised("w", 3)}, []string{"w raised"}},
		{"nothing without news", []*store.Update{{Run: store.Run{ID: "r"}, Warnings: []store.Warning{warned("w", 3)}}}, nil},
		{
			"a count that doubles and doubles",
			[]*store.Update{raised("w", 3), grown("w", 4), grown("w", 7), grown("w", 8), grown("w", 15), grown("w", 16), grown("w", 31)},
			[]string{"w raised", "w grown 8", "w grown 16"},
		},
		{"a leap sends one notice", []*store.Update{raised("w", 3), grown("w", 100), grown("w", 101)}, []string{"w raised", "w grown 100"}},
		{
			"not before a count is twice what it was raised with",
			[]*store.Update{raised("w", 5), grown("w", 8), grown("w", 16)},
			[]string{"w raised", "w grown 16"},
		},
		{"raised high", []*store.Update{raised("w", 40), grown("w", 64), grown("w", 127), grown("w", 128)}, []string{"w raised", "w grown 128"}},
		{"a warning without a count", []*store.Update{raised("w", 0), grown("w", 0)}, []string{"w raised"}},
		{"several warnings", []*store.Update{raised("v", 3), raised("w", 3), grown("v", 9)}, []string{"v raised", "w raised", "v grown 9"}},
		{"the same update once more", []*store.Update{raised("w", 3), raised("w", 3)}, []string{"w raised"}},
		{
			"a run that is folded anew",
			[]*store.Update{raised("w", 3), grown("w", 40), raised("w", 3), grown("w", 8), grown("w", 41), grown("w", 64)},
			[]string{"w raised", "w grown 40", "w grown 64"},
		},
		{
			"a block, once",
			[]*store.Update{raised("w", 3), decided(grown("w", 4), policy.Block, "same_call"), decided(grown("w", 5), policy.Block, "same_call")},
			[]string{"w raised", "w block"},
		},
		{
			"a halt after a block",
			[]*store.Update{decided(raised("w", 3), policy.Block, "x"), decided(grown("w", 4), policy.Halt, "x")},
			[]string{"w block", "w halt"},
		},
		{
			"no block after a halt",
			[]*store.Update{decided(raised("w", 3), policy.Halt, "x"), decided(grown("w", 4), policy.Block, "x")},
			[]string{"w halt"},
		},
		{
			"a decision to warn is no news",
			[]*store.Update{decided(raised("w", 3), policy.Warn, "x"), decided(grown("w", 4), policy.Warn, "x")},
			[]string{"w raised"},
		},
		{"a decision without a warning sends no notice", []*store.Update{decided(&store.Update{}, policy.Halt, "x")}, nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			inBubble(t, &receiver{}, &sinktest.Records{}, Endpoint{}, func(t *testing.T, r *rig) {
				for _, u := range c.updates {
					r.Publish(u)
					synctest.Wait() // else they would be told together
				}
				if diff := cmp.Diff(c.want, r.told(t)); diff != "" {
					t.Errorf("notices (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestNothingIsSentTwiceAfterARestart(t *testing.T) {
	records, to := &sinktest.Records{}, &receiver{}
	for _, u := range []*store.Update{
		raised("w", 3), raised("w", 3), grown("w", 9), grown("w", 10), grown("w", 70), grown("w", 17), // folded anew
		decided(grown("w", 70), policy.Halt, "x"), decided(grown("w", 70), policy.Block, "x"),
	} {
		inBubble(t, to, records, Endpoint{}, func(_ *testing.T, r *rig) { r.Publish(u) })
	}
	if diff := cmp.Diff([]string{"w raised", "w grown 9", "w grown 70", "w halt"}, to.told(t)); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}

func TestAGrowingLoopWritesANoticeForEachLevel(t *testing.T) {
	records := &sinktest.Records{}
	inBubble(t, &receiver{}, records, Endpoint{}, func(_ *testing.T, r *rig) {
		for n := range 1000 {
			r.Publish(grown("w", n+3))
			synctest.Wait()
		}
	})
	if n := records.Written(); n != 1+7 { // raised, and 8 to 512
		t.Errorf("%d notices were written", n)
	}
}

func TestFiltersSelectWarnings(t *testing.T) {
	for _, c := range []struct {
		what string
		e    Endpoint
		want bool
	}{
		{"none", Endpoint{}, true},
		{"the rule", Endpoint{Rules: []string{"other", "same_call"}}, true},
		{"another rule", Endpoint{Rules: []string{"other"}}, false},
		{"a lower severity", Endpoint{Severity: "info"}, true},
		{"the severity", Endpoint{Severity: "warning"}, true},
		{"a higher severity", Endpoint{Severity: "critical"}, false},
		{"the project", Endpoint{Projects: []string{"web"}}, true},
		{"another project", Endpoint{Projects: []string{"api"}}, false},
	} {
		inBubble(t, &receiver{}, &sinktest.Records{}, c.e, func(t *testing.T, r *rig) {
			r.Publish(raised("w", 3))
			synctest.Wait()
			if got := len(r.told(t)) == 1; got != c.want {
				t.Errorf("%s: notices %v, want %v", c.what, got, c.want)
			}
		})
	}
}

func TestAFailedMessageIsRepeatedWithBackoff(t *testing.T) {
	to := &receiver{statuses: []int{500, 0, 503, 408, 429}}
	inBubble(t, to, &sinktest.Records{}, Endpoint{}, func(t *testing.T, r *rig) {
		r.Publish(raised("w", 3))
		time.Sleep(5 * time.Minute)
		got := r.came()
		if n := len(got); n != 6 {
			t.Fatalf("%d attempts", n)
		}
		least, most := 500*time.Millisecond, 1500*time.Millisecond
		for k := 1; k < 6; k++ {
			if pause := got[k].at - got[k-1].at; pause < least || pause > most {
				t.Errorf("pause %d is %s, want %s to %s", k, pause, least, most)
			}
			least, most = 2*least, 2*most
		}
		if diff := cmp.Diff([]sink.Stats{{Host: "hooks.test", Sent: 1, Retried: 5}}, r.Stats(), withoutKeys); diff != "" {
			t.Errorf("stats (-want +got):\n%s", diff)
		}
		for _, g := range got[1:] {
			if diff := cmp.Diff(string(got[0].body), string(g.body)); diff != "" {
				t.Errorf("another attempt has another body:\n%s", diff)
			}
		}
	})
}

func TestRetryAfterIsHonoured(t *testing.T) {
	for after, want := range map[string]time.Duration{
		"100":                           100 * time.Second,
		"Sat, 01 Jan 2000 00:02:00 GMT": 2 * time.Minute, // fake time begins at midnight
		"soon":                          0,
		"-5":                            0,
	} {
		to := &receiver{statuses: []int{429}, after: after}
		inBubble(t, to, &sinktest.Records{}, Endpoint{}, func(t *testing.T, r *rig) {
			r.Publish(raised("w", 3))
			time.Sleep(5 * time.Minute)
			got := r.came()
			if n := len(got); n != 2 {
				t.Fatalf("%s: %d attempts", after, n)
			}
			if pause := got[1].at - got[0].at; pause < want || pause > want+2*time.Second {
				t.Errorf("%s: the next attempt after %s", after, pause)
			}
		})
	}
}

func TestAMessageThatIsGivenUpIsDueAtTheNextGrowth(t *testing.T) {
	for what, to := range map[string]*receiver{
		"a dead endpoint":         {statuses: make([]int, 1000)},
		"a wish for a long break": {statuses: []int{503}, after: "86400"},
		"a refusal":               {statuses: []int{400}},
		"gone":                    {statuses: []int{410}},
		"a redirect":              {statuses: []int{302}},
	} {
		records := &sinktest.Records{}
		inBubble(t, to, records, Endpoint{}, func(t *testing.T, r *rig) {
			r.Publish(raised("w", 3))
			time.Sleep(sink.GiveUp + sink.MaxWait)
			if s := r.Stats()[0]; s.Failed != 1 || s.Sent != 0 {
				t.Errorf("%s: %+v", what, s)
			}
			if due := records.Due(); len(due) != 0 {
				t.Errorf("%s: still due: %v", what, due)
			}
			if !strings.Contains(r.log.String(), "could not be delivered") {
				t.Errorf("%s: logged %q", what, r.log)
			}
			r.mu.Lock()
			attempts := len(r.got)
			r.statuses = nil
			r.mu.Unlock()
			r.Publish(grown("w", 4))
			synctest.Wait()
			if told := r.told(t); len(told) != attempts+1 || told[attempts] != "w raised" {
				t.Errorf("%s: after its growth the notices are %v", what, told[attempts:])
			}
		})
	}
}

func TestWithoutTheStoreNothingIsSentUntilItIsBack(t *testing.T) {
	var records sinktest.Records
	inBubble(t, &receiver{}, &records, Endpoint{}, func(t *testing.T, r *rig) {
		records.Fail(errors.New("the disk is full"))
		r.Publish(raised("w", 3))
		time.Sleep(time.Minute)
		if told := r.told(t); len(told) != 0 || !strings.Contains(r.log.String(), "the disk is full") {
			t.Errorf("told %v, logged %q", told, r.log)
		}
		records.Fail(nil)
		time.Sleep(time.Minute)
		if diff := cmp.Diff([]string{"w raised"}, r.told(t)); diff != "" {
			t.Errorf("notices (-want +got):\n%s", diff)
		}
	})
}

func TestAMessageIsMarkedWhenTheStoreIsBack(t *testing.T) {
	var records sinktest.Records
	inBubble(t, &receiver{hold: time.Second}, &records, Endpoint{}, func(t *testing.T, r *rig) {
		r.Publish(raised("w", 3))
		synctest.Wait()
		records.Fail(errors.New("the connection is lost"))
		time.Sleep(time.Minute)
		records.Fail(nil)
		time.Sleep(time.Minute)
		if told, due := r.told(t), records.Due(); len(told) != 1 || len(due) != 0 {
			t.Errorf("told %v, due %v", told, due)
		}
	})
}

// TestAMessageIsSentAgainWithItsIDAfterACrash kills a server at each step between the commit of a warning and the mark of its message.
func TestAMessageIsSentAgainWithItsIDAfterACrash(t *testing.T) {
	for _, c := range []struct {
		what  string
		crash func(t *testing.T, r *rig)
		want  []string
	}{
		{"before it is sent", func(_ *testing.T, r *rig) { r.records.Write(r.Sink, raised("w", 3)) }, []string{"w raised"}},
		{"before it is marked", func(_ *testing.T, r *rig) {
			r.records.FailMarks(errors.New("the server is killed"))
			r.Publish(raised("w", 3))
			synctest.Wait()
		}, []string{"w raised", "w raised"}},
		{"when it is marked", func(_ *testing.T, r *rig) {
			r.Publish(raised("w", 3))
			synctest.Wait()
		}, []string{"w raised"}},
		{"before a block is sent", func(_ *testing.T, r *rig) {
			r.records.Write(r.Sink, decided(raised("w", 3), policy.Block, "same_call"))
		}, []string{"w block"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			var records sinktest.Records
			to := &receiver{}
			inBubble(t, to, &records, Endpoint{}, func(t *testing.T, r *rig) {
				c.crash(t, r)
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				_ = r.Close(ctx) // it is cut off
				records.FailMarks(nil)
			})
			for range 2 {
				inBubble(t, to, &records, Endpoint{}, func(*testing.T, *rig) {})
			}
			if diff := cmp.Diff(c.want, to.told(t)); diff != "" {
				t.Errorf("notices (-want +got):\n%s", diff)
			}
			ids := make(map[string]bool)
			for k, m := range to.messages(t) {
				ids[m.ID] = true
				if header := to.came()[k].header.Get("Webhook-Id"); header != m.ID {
					t.Errorf("the header has the id %q, the body %q", header, m.ID)
				}
				if (m.Decision != nil) != (m.Level == sink.Block) {
					t.Errorf("the message at the level %s has the decision %+v", m.Level, m.Decision)
				}
			}
			if len(ids) != 1 || len(records.Due()) != 0 {
				t.Errorf("ids %v, due %v", ids, records.Due())
			}
		})
	}
}

func TestANoticeThatAnotherServerHasTakenIsNotSent(t *testing.T) {
	var records sinktest.Records
	inBubble(t, &receiver{statuses: []int{503}}, &records, Endpoint{}, func(t *testing.T, r *rig) {
		r.Publish(raised("w", 3))
		synctest.Wait()
		records.Give("another")
		time.Sleep(time.Hour)
		if told, s := r.told(t), r.Stats()[0]; len(told) != 1 || s.Sent+s.Failed != 0 || s.Waiting != 0 {
			t.Errorf("told %v, %+v", told, s)
		}
	})
}

func TestAWarningThatIsMutedWhileItsMessageWaitsIsNotSentLater(t *testing.T) {
	var records sinktest.Records
	inBubble(t, &receiver{statuses: []int{503}}, &records, Endpoint{}, func(t *testing.T, r *rig) {
		r.Publish(raised("w", 3))
		synctest.Wait()
		records.Mute("w")
		time.Sleep(time.Hour)
		records.Mute("other")
		r.Publish(grown("w", 4))
		time.Sleep(time.Hour)
		if told, due := r.told(t), records.Due(); len(told) != 1 || len(due) != 0 {
			t.Errorf("told %v, due %v", told, due)
		}
		r.Publish(grown("w", 9))
		synctest.Wait()
		if diff := cmp.Diff([]string{"w raised", "w grown 9"}, r.told(t)); diff != "" {
			t.Errorf("notices (-want +got):\n%s", diff)
		}
	})
}

func TestTwoEndpointsWithOneAddressGetAWarningOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &receiver{}
		hosts, stop := hostsOf(map[string]*receiver{"a.test:80": to})
		defer stop()
		all, err := targets(Options{Endpoints: []Endpoint{
			{URL: "http://a.test", Rules: []string{"other"}}, {URL: "http://a.test", Projects: []string{"web"}}, {URL: "http://a.test"},
		}}, hosts)
		if err != nil {
			t.Fatal(err)
		}
		var records sinktest.Records
		s := sink.New(all, &records, "", slog.New(slog.DiscardHandler))
		records.Publish(s, raised("w", 3))
		synctest.Wait()
		if diff := cmp.Diff([]string{"w raised"}, to.told(t)); diff != "" {
			t.Errorf("notices (-want +got):\n%s", diff)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestASlowEndpointGetsTheLatestStateOfAWarning(t *testing.T) {
	to := &receiver{hold: 5 * time.Second}
	inBubble(t, to, &sinktest.Records{}, Endpoint{}, func(t *testing.T, r *rig) {
		r.Publish(raised("first", 3))
		synctest.Wait()
		r.Publish(raised("w", 3))
		for n := range 30 {
			r.Publish(grown("w", n+4))
		}
		r.Publish(decided(grown("w", 34), policy.Block, "same_call"))
		if s := r.Stats()[0]; s.Waiting != 2 {
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Minute)
		if diff := cmp.Diff([]string{"first raised", "w block"}, r.told(t)); diff != "" {
			t.Errorf("notices (-want +got):\n%s", diff)
		}
		if m := r.messages(t)[1]; *m.Warning.Count != 34 {
			t.Errorf("count %d", *m.Warning.Count)
		}
	})
}

func TestDroppedNoticesAreCountedAndLogged(t *testing.T) {
	to := &receiver{hold: time.Second}
	inBubble(t, to, &sinktest.Records{}, Endpoint{}, func(t *testing.T, r *rig) {
		r.Publish(raised("first", 3))
		synctest.Wait()
		for n := range sink.MaxWaiting - 1 + 5 {
			r.Publish(raised("w"+jsonText(n), 3))
		}
		if s := r.Stats()[0]; s.Waiting != sink.MaxWaiting || s.Dropped != 5 {
			t.Errorf("%+v", s)
		}
		if n := strings.Count(r.log.String(), "queue is full"); n != 1 {
			t.Errorf("logged %d times: %s", n, r.log)
		}
		r.Publish(grown("w0", 9))
		if s := r.Stats()[0]; s.Dropped != 5 {
			t.Errorf("the growth of one that waits was dropped: %+v", s)
		}
	})
	if n := len(to.came()); n != sink.MaxWaiting {
		t.Errorf("%d messages were received", n)
	}
}

func TestADeletedRunSendsNoNotice(t *testing.T) {
	to := &receiver{hold: time.Second}
	inBubble(t, to, &sinktest.Records{}, Endpoint{}, func(t *testing.T, r *rig) {
		r.Publish(raised("first", 3))
		synctest.Wait()
		r.Publish(raised("w", 3))
		r.Publish(&store.Update{Run: store.Run{Number: 7}, Deleted: true})
		other := raised("other", 3)
		other.Run.Number = 8
		r.Publish(other)
		time.Sleep(time.Minute)
		if diff := cmp.Diff([]string{"first raised", "other raised"}, r.told(t)); diff != "" {
			t.Errorf("notices (-want +got):\n%s", diff)
		}
	})
}

func TestCloseSendsQueuedNotices(t *testing.T) {
	to := &receiver{hold: time.Second}
	inBubble(t, to, &sinktest.Records{}, Endpoint{}, func(_ *testing.T, r *rig) {
		r.Publish(raised("a", 3))
		r.Publish(raised("b", 3))
	})
	if diff := cmp.Diff([]string{"a raised", "b raised"}, to.told(t)); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}

func TestCloseEndsAfterItsTimeout(t *testing.T) {
	var records sinktest.Records
	inBubble(t, &receiver{hold: time.Hour}, &records, Endpoint{Timeout: 5 * time.Minute}, func(t *testing.T, r *rig) {
		r.Publish(raised("a", 3))
		synctest.Wait()
		r.Publish(raised("b", 3))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begin := time.Now()
		if err := r.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("close: %v", err)
		}
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("it took %s", took)
		}
		if s, due := r.Stats()[0], records.Due(); s.Waiting != 2 || s.Failed+s.Dropped != 0 || len(due) != 2 {
			t.Errorf("%+v, due %v", s, due)
		}
	})
	to := &receiver{}
	inBubble(t, to, &records, Endpoint{}, func(*testing.T, *rig) {})
	if diff := cmp.Diff([]string{"a raised", "b raised"}, to.told(t)); diff != "" {
		t.Errorf("notices after the next start (-want +got):\n%s", diff)
	}
}

func TestADeadEndpointDoesNotDelayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dead, well := &receiver{statuses: make([]int, 1000)}, &receiver{}
		hosts, stop := hostsOf(map[string]*receiver{"dead.test:80": dead, "well.test:80": well})
		defer stop()
		all, err := targets(Options{Endpoints: []Endpoint{{URL: "http://dead.test"}, {URL: "http://well.test"}}}, hosts)
		if err != nil {
			t.Fatal(err)
		}
		var records sinktest.Records
		s := sink.New(all, &records, "", slog.New(slog.DiscardHandler))
		for _, id := range []string{"a", "b", "c"} {
			records.Publish(s, raised(id, 3))
		}
		synctest.Wait()
		if diff := cmp.Diff([]string{"a raised", "b raised", "c raised"}, well.told(t)); diff != "" {
			t.Errorf("notices (-want +got):\n%s", diff)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Close(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("close: %v", err)
		}
	})
}

func TestOptionsReportAllErrorsWithoutSecrets(t *testing.T) {
	o := Options{URL: "unloop", Endpoints: []Endpoint{
		{URL: "https://hooks.test/x"},
		{URL: "ftp://hooks.test/secret", Format: "xml", Severity: "bad", Timeout: time.Hour},
	}}
	err := o.Validate()
	if err == nil {
		t.Fatal("no mistakes")
	}
	for _, name := range []string{"url must", "endpoint 2: url", "format", "severity", "timeout"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("no error for %s: %v", name, err)
		}
	}
	if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "endpoint 1") {
		t.Error(err)
	}
	if _, err := Targets(o); err == nil {
		t.Error("a sink with these options")
	}
}
