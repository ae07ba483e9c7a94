package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// feed makes the events of many runs, in the order of each run. The arguments and outcomes of most calls differ from those of all other calls.
// Every twentieth run loops.
type feed struct {
	name   string
	runs   []int // number of events made of each run
	next   int
	length int // events of a run, an even number; 0 for runs without an end
	begun  time.Time
}

func newFeed(name string, runs int) *feed {
	return &feed{name: name, runs: make([]int, runs), begun: time.Now()}
}

// add appends the next event of the next run as a line, and returns its id.
func (f *feed) add(to []byte) (line []byte, id string) {
	run := f.next
	f.next = (f.next + 1) % len(f.runs)
	n := f.runs[run]
	f.runs[run]++
	if f.length > 0 { // the run ends, and a new one begins
		run, n = run+n/f.length*len(f.runs), n%f.length
	}
	id = f.name + "-" + strconv.Itoa(run) + "-" + strconv.Itoa(n)
	call, question := n/2, run*7919+n/2
	if run%20 == 0 {
		question = run
	}
	to = append(to, `{"event_id":"`...)
	to = append(to, id...)
	to = append(to, `","run_id":"`...)
	to = append(to, f.name...)
	to = append(to, '-')
	to = strconv.AppendInt(to, int64(run), 10)
	to = append(to, `","sequence":`...)
	to = strconv.AppendInt(to, int64(n+1), 10)
	to = append(to, `,"timestamp":"`...)
	to = f.begun.Add(time.Duration(n)*time.Second).UTC().AppendFormat(to, time.RFC3339)
	if n == f.length-1 {
		return append(to, `","type":"run_completed"}`+"\n"...), id
	}
	to = append(to, `","agent":"coder","tool":"grep","call_id":"c`...)
	to = strconv.AppendInt(to, int64(call), 10)
	if n%2 == 0 {
		to = append(to, `","type":"tool_call_started","input":{"path":"internal/`...)
		to = appendWords(to, question, 0, 2, '/')
		to = append(to, '_')
		to = strconv.AppendInt(to, int64(question), 10)
		to = append(to, `.go","query":"where the `...)
		to = appendWords(to, question, 2, 4, ' ')
		to = append(to, ` and closes it","offset":`...)
		to = strconv.AppendInt(to, int64(question), 10)
		to = append(to, `,"limit":50,"include":["*.go","*.md"]}}`...)
	} else {
		to = append(to, `","type":"tool_call_completed","latency_ms":41,"output":"internal/`...)
		to = appendWords(to, question, 0, 2, '/')
		to = append(to, `.go:88: // `...)
		to = appendWords(to, question, 6, 10, ' ')
		to = append(to, `\ninternal/`...)
		to = appendWords(to, question, 0, 2, '/')
		to = append(to, `.go:91: func (s *`...)
		to = appendWords(to, question, 16, 4, '.')
		to = append(to, `) {\n"}`...)
	}
	return append(to, '\n'), id
}

// words are the words of arguments and outcomes.
var words = strings.Fields("accept address archive balance batch border branch buffer cache caller cancel catalog channel check client close " +
	"cluster column commit compare config connect contract counter cursor decode default deliver delta deploy detail dialect digest discount " +
	"dispatch domain driver encode endpoint engine entry error export factor failure fetch field filter finish folder format frame gateway grant " +
	"group guard handle header history image import index invoice journal kernel label latency layout ledger limit listen loader locale manifest " +
	"margin member merge message metric mirror module monitor network notice number object offset option order origin output owner package " +
	"parser partition payment period policy prefix price process profile queue quota range reader receipt record region release render report " +
	"request retry route sample schema scope script search sector select server session shard signal snapshot source stage status stream string " +
	"subject summary switch table target template tenant thread ticket timer token topic trace transfer trigger update upload vendor version " +
	"volume voucher wallet watch weight window worker writer")

// appendWords appends n words of a call, beginning at the word with the number from. Different calls have different words.
func appendWords(to []byte, call, from, n int, between byte) []byte {
	for k := range n {
		if k > 0 {
			to = append(to, between)
		}
		mixed := uint64(call*64+from+k) * 0x9e3779b97f4a7c15 // multiplicative hashing by the golden ratio
		to = append(to, words[mixed>>32%uint64(len(words))]...)
	}
	return to
}

// fill returns a request body of n events.
func (f *feed) fill(body []byte, n int) []byte {
	for range n {
		body, _ = f.add(body)
	}
	return body
}

// client returns an HTTP client that keeps its connections open.
func client(connections int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}, Timeout: time.Minute}
}

// post sends events and retries while the server is busy.
func post(ctx context.Context, c *http.Client, url string, body []byte) error {
	return send(ctx, c, url+"/api/events", "application/x-ndjson", http.StatusCreated, body)
}

// send sends a body, retries while the server is busy, and wants a status.
func send(ctx context.Context, c *http.Client, url, kind string, want int, body []byte) error {
	for {
		status, reply, err := sendOnce(ctx, c, url, kind, body)
		switch {
		case err != nil:
			return err
		case status == want:
			return nil
		case status != http.StatusTooManyRequests:
			return fmt.Errorf("%d %s: %.300s", status, http.StatusText(status), reply)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// feeds returns a feed for each connection. The feeds share the live runs.
func feeds(connections int, set settings) (all []*feed) {
	for k := range connections {
		all = append(all, newFeed(fmt.Sprintf("load%d", k), max(1, set.runs/connections)))
	}
	return all
}

// senders posts bodies of size events of each feed, over one connection each and to the servers in turns, until ctx ends or the budget of events is used. It
// returns the number of acknowledged events and the time.
func senders(ctx context.Context, urls []string, all []*feed, size int, budget int64) (sent int64, took time.Duration, err error) {
	var done atomic.Int64
	c := client(len(all))
	failed := make(chan error, len(all))
	begun := time.Now()
	for k, f := range all {
		url := urls[k%len(urls)]
		go func() {
			var body []byte
			for ctx.Err() == nil && (budget == 0 || done.Load() < budget) {
				body = f.fill(body[:0], size)
				if err := post(context.WithoutCancel(ctx), c, url, body); err != nil {
					failed <- err
					return
				}
				done.Add(int64(size))
			}
			failed <- nil
		}()
	}
	for range all {
		if e := <-failed; e != nil {
			err = e
		}
	}
	return done.Load(), time.Since(begun), err
}
