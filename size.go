package unloop

import "unsafe"

// The memory of a run besides its strings, in bytes: the run with its maps, and each tool, speaker and map entry.
const (
	bareSize   = 2 << 10
	toolSize   = int(unsafe.Sizeof(Tool{})) + mapEntry
	speechSize = int(unsafe.Sizeof(speaker{})) + mapEntry
	mapEntry   = 64
)

// Size estimates the memory of the run in bytes, within a factor of two. It visits the named parts of the state, which are
// bounded (32 steps, 256 open calls, 256 tools, 256 agents). It takes at most about 10 µs, whatever the length of the run.
func (r *Run) Size() int {
	s := &r.s
	size := bareSize + s.InputText + cap(s.Recent)*int(unsafe.Sizeof(Step{})) + cap(s.Open)*int(unsafe.Sizeof(openCall{}))
	for k := range s.Recent {
		size += s.Recent[k].texts()
	}
	for k := range s.Open {
		o := &s.Open[k]
		size += o.Step.texts() + len(o.Call) + len(o.Span) + len(o.Reader)
	}
	for k := range s.Excerpts {
		size += int(unsafe.Sizeof(excerpt{})) + cap(s.Excerpts[k].Input) + cap(s.Excerpts[k].Output)
	}
	for name, t := range s.Tools {
		size += toolSize + len(name) + len(t.FirstError) + cap(t.Inputs)*int(unsafe.Sizeof(t))
	}
	for name := range s.Agents {
		size += mapEntry + len(name)
	}
	for name, sp := range s.Speakers {
		size += speechSize + len(name) + cap(sp.Messages)*int(unsafe.Sizeof(message{}))
	}
	for _, t := range []*recentCounts{&s.RawCounts, &s.ArgsCounts, &s.OutcomeCounts, &s.ResultCounts} {
		size += t.young.size() + t.old.size()
	}
	m := &s.Meter
	return size + m.Seen.size() + cap(m.Acts)*int(unsafe.Sizeof(act{})) + cap(m.Answers)*int(unsafe.Sizeof(answer{}))
}

// texts returns the length in bytes of the strings that only this step may reference.
func (s *Step) texts() int { return len(s.Agent) + len(s.Start.ID) + len(s.End.ID) }

func (g *generation) size() int { return cap(g.entries)*entrySize + 2*cap(g.places) }
