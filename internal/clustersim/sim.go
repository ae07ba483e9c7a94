package main

import (
	"cmp"
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
)

// Service times, in microseconds. docs/scaling.md says where each was measured.
const (
	foldTime   = 8.0  // of an event, on the one goroutine that folds its run
	workerTime = 37.0 // of an event on a processor of its owner, with foldTime
	rowTime    = 17.0 // of an event on a processor of PostgreSQL
	commitTime = 2000 // of a transaction besides, median: round trips and the disk
	commitTail = 3.4  // 99th percentile of commitTime by its median
	reloadTime = 1000 // to restore a run at a new owner
	takeover   = 5e6  // from the loss of an owner until others have its partitions
)

const (
	partitions = 64
	maxBatch   = 8192 // events of a transaction
	gather     = 256  // with fewer events, a partition waits for its transaction under way
	writers    = 6    // connections of a server that write
)

// scenario is a cluster and its load.
type scenario struct {
	says    string
	servers int
	cores   int // of each server
	dbCores int
	rate    float64 // events per second
	runs    int
	tail    float64 // shape of the Pareto distribution of the runs' rates; 0: all are equal
	hot     float64 // proportion of the events that belong to one run
	lose    bool    // a server is lost after a third of the time
	seconds float64
	seed    uint64
}

// outcome is what a simulation measured. Times are in milliseconds, from the acknowledgement of an event to its being recorded.
type outcome struct {
	P50, P99, Max float64
	Backlog       int     // events at most that were acknowledged and not recorded
	CaughtUp      float64 // seconds from the loss of a server until events take less than a second again; 0 without a loss
	Busiest       float64 // the events of the busiest partition by the mean
}

// partition is a queue of events, in the order of their arrival.
type partition struct {
	id       int
	arrivals []float64 // times
	hot      []bool    // whether the event is of the hot run; nil without one
	next     int       // first event that is not taken
	batch    int       // events before it that are folded and not being written
	owner    int
	folded   float64 // when its owner has folded what was taken
	written  float64 // when its last transaction ends
	runs     int
	restore  float64 // processor time to restore its runs before it continues
	place    int     // in the agenda
}

// ready returns when the partition does something next: it begins to write what it has folded, or to fold what has arrived.
func (p *partition) ready() float64 {
	if p.batch > 0 {
		return max(p.folded, p.written)
	}
	if p.next == len(p.arrivals) {
		return math.Inf(1)
	}
	at := max(p.folded, p.arrivals[p.next])
	if last := p.next + gather; last >= len(p.arrivals) || p.arrivals[last] > max(at, p.written) {
		return max(at, p.written)
	}
	return at
}

// agenda has the partition that is ready first at its top.
type agenda []*partition

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].ready() < a[j].ready() }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i]; a[i].place, a[j].place = i, j }
func (a *agenda) Push(x any)        { *a = append(*a, x.(*partition)) }
func (a *agenda) Pop() any          { panic("nothing is removed") }

// resource is several processors or connections. Its values are the times at which they are free.
type resource []float64

// use takes the one that is free first, from a time on, and returns when it is done.
func (r resource) use(from, time float64) float64 {
	first := 0
	for k := range r {
		if r[k] < r[first] {
			first = k
		}
	}
	r[first] = max(r[first], from) + time
	return r[first]
}

type simulation struct {
	scenario
	random *rand.Rand
	all    agenda
	cpu    []resource // by server: its processors together
	conns  []resource
	db     resource
	lost   float64 // time of the loss

	recorded []record
}

// record is a transaction that was written.
type record struct {
	end      float64
	arrivals []float64
}

// simulate runs a scenario. Equal scenarios give equal outcomes.
func simulate(c scenario) outcome {
	s := &simulation{scenario: c, random: rand.New(rand.NewPCG(c.seed, 1)), db: make(resource, c.dbCores), lost: math.Inf(1)}
	if c.lose {
		s.lost = c.seconds * 1e6 / 3
	}
	for range c.servers {
		s.cpu, s.conns = append(s.cpu, make(resource, 1)), append(s.conns, make(resource, writers))
	}
	s.load()
	heap.Init(&s.all)
	for !math.IsInf(s.all[0].ready(), 1) {
		p := s.all[0]
		s.step(p)
		heap.Fix(&s.all, p.place)
	}
	return s.outcome()
}

// load distributes runs over partitions, and makes the arrivals of each as a Poisson process.
func (s *simulation) load() {
	weights, total := make([]float64, partitions), 0.0
	perPartition := make([]int, partitions)
	for range s.runs {
		weight := 1.0
		if s.tail > 0 {
			weight = math.Pow(1-s.random.Float64(), -1/s.tail)
		}
		to := s.random.IntN(partitions)
		weights[to] += weight
		perPartition[to]++
		total += weight
	}
	for k := range partitions {
		p := &partition{id: k, owner: k % s.servers, place: k, runs: perPartition[k]}
		cold, hot := weights[k]/total*s.rate*(1-s.hot), 0.0
		if k == 0 {
			hot = s.rate * s.hot
		}
		for at := 0.0; cold+hot > 0; {
			if at += s.random.ExpFloat64() / (cold + hot) * 1e6; at > s.seconds*1e6 {
				break
			}
			p.arrivals = append(p.arrivals, at)
			if s.hot > 0 {
				p.hot = append(p.hot, s.random.Float64() < hot/(cold+hot))
			}
		}
		s.all = append(s.all, p)
	}
}

// step does what a partition does next.
func (s *simulation) step(p *partition) {
	at := p.ready()
	switch {
	case p.owner == 0 && at >= s.lost:
		s.move(p)
	case p.batch > 0:
		s.write(p, at)
	default:
		s.fold(p, at)
	}
}

// fold folds what has arrived.
func (s *simulation) fold(p *partition, at float64) {
	first := p.next
	for p.next < len(p.arrivals) && p.next-first < maxBatch && p.arrivals[p.next] <= at {
		p.next++
	}
	p.batch = p.next - first
	all := s.cpu[p.owner].use(at, (float64(p.batch)*workerTime+p.restore)/float64(s.cores)) // the shards of its runs are on all processors
	p.folded, p.restore = max(all, at+s.serial(p, first)), 0
}

// write writes what is folded.
func (s *simulation) write(p *partition, at float64) {
	first := p.next - p.batch
	rows := s.db.use(at, float64(p.batch)*rowTime)
	end := s.conns[p.owner].use(at, rows-at+commitTime*math.Exp(s.random.NormFloat64()*math.Log(commitTail)/2.326))
	if p.owner == 0 && end > s.lost { // the transaction is lost
		s.move(p)
		return
	}
	s.recorded = append(s.recorded, record{end, p.arrivals[first:p.next]})
	p.batch, p.written = 0, end
}

// serial returns the time of the hot run's events on their one goroutine.
func (s *simulation) serial(p *partition, first int) (time float64) {
	if p.hot != nil {
		for _, hot := range p.hot[first:p.next] {
			if hot {
				time += foldTime
			}
		}
	}
	return time
}

// move gives a partition of the lost server to another one, which restores its runs and gets again what is not written.
func (s *simulation) move(p *partition) {
	p.owner = 1 + p.id%(s.servers-1)
	p.next, p.batch = p.next-p.batch, 0
	p.folded, p.written = s.lost+takeover, s.lost+takeover
	p.restore = float64(p.runs) * reloadTime
}

func (s *simulation) outcome() (o outcome) {
	var latencies []float64
	busiest, total, late := 0, 0, s.lost
	for _, p := range s.all {
		busiest, total = max(busiest, len(p.arrivals)), total+len(p.arrivals)
	}
	for _, r := range s.recorded {
		for _, at := range r.arrivals {
			latencies = append(latencies, r.end-at)
			if r.end-at > 1e6 && s.lose {
				late = max(late, r.end)
			}
		}
	}
	slices.Sort(latencies)
	at := func(share float64) float64 {
		return latencies[min(int(share*float64(len(latencies))), len(latencies)-1)] / 1000
	}
	o = outcome{P50: at(0.5), P99: at(0.99), Max: at(1), Backlog: s.backlog(), Busiest: float64(busiest) * partitions / float64(total)}
	if s.lose {
		o.CaughtUp = (late - s.lost) / 1e6
	}
	return o
}

// backlog returns how many events were acknowledged and not recorded, at most.
func (s *simulation) backlog() (most int) {
	var arrived []float64
	for _, r := range s.recorded {
		arrived = append(arrived, r.arrivals...)
	}
	slices.Sort(arrived)
	slices.SortFunc(s.recorded, func(a, b record) int { return cmp.Compare(a.end, b.end) })
	came, gone := 0, 0
	for _, r := range s.recorded {
		for came < len(arrived) && arrived[came] <= r.end {
			came++
		}
		most = max(most, came-gone)
		gone += len(r.arrivals)
	}
	return most
}
