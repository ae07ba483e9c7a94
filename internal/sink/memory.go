package sink

import "sync"

// MaxWaiting is the maximum number of warnings of a target with due notices that were published since the start. Further warnings are
// dropped and counted.
const MaxWaiting = 1000

// maxStages is the maximum number of warnings whose stages a target remembers. For other warnings, the notices in the store decide.
const maxStages = 10_000

// memory is what a target remembers of the store, so that a warning that grows at each event neither writes nor reads it at each event.
type memory struct {
	mu     sync.Mutex
	stages map[string]stage // up to which notices were recorded, by warning
	queued map[string]int64 // the runs of the published warnings that are not done
	stored int              // number of other warnings with due notices when the store was last read
	more   chan struct{}    // has a token if there may be due notices; a second token is not needed
}

func newMemory() *memory {
	return &memory{stages: make(map[string]stage), queued: make(map[string]int64), more: make(chan struct{}, 1)}
}

// admits reports whether there is room for a warning. The warnings that commits publish at the same time may exceed the maximum.
func (m *memory) admits(warning string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, has := m.queued[warning]
	return has || len(m.queued) < MaxWaiting
}

// put adds a warning whose notices were recorded.
func (m *memory) put(n *pending) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := n.warning.ID
	m.queued[id] = n.run.Number
	if len(m.stages) >= maxStages {
		clear(m.stages)
	}
	m.stages[id] = m.stages[id].and(n.stage())
}

// wake makes the worker look for due notices.
func (m *memory) wake() {
	select {
	case m.more <- struct{}{}:
	default:
	}
}

// stageOf returns the known stage of a warning.
func (m *memory) stageOf(warning string) stage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stages[warning]
}

// done removes a warning whose notices are not due any more.
func (m *memory) done(warning string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, has := m.queued[warning]; has {
		delete(m.queued, warning)
	} else {
		m.stored = max(0, m.stored-1)
	}
}

// forget removes the stage of a warning, so that its levels are recorded again.
func (m *memory) forget(warning string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.stages, warning)
}

// forgetRun removes the published warnings of a run.
func (m *memory) forgetRun(run int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, of := range m.queued {
		if of == run {
			delete(m.queued, id)
		}
	}
}

// setAside makes room in quiet hours: the warnings stay in the store.
func (m *memory) setAside() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stored += len(m.queued)
	clear(m.queued)
}

// found records the number of warnings with due notices in the store.
func (m *memory) found(total int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if total == 0 {
		clear(m.queued)
	}
	m.stored = max(0, total-len(m.queued))
}

// waiting returns the number of warnings with due notices.
func (m *memory) waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.queued) + m.stored
}
