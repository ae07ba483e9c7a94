package unloop

import "unsafe"

// What a run takes beside its strings, in bytes: itself with its maps, and each tool, agent and message.
const (
	bareSize   = 2 << 10
	toolSize   = int(unsafe.Sizeof(Tool{})) + mapEntry
	speechSize = int(unsafe.Sizeof(speaker{})) + mapEntry
	mapEntry   = 64
)

// Size estimates the bytes that the run takes in memory, within a factor of two. It looks at what the run keeps by name, which is
// bounded (32 steps, 256 open calls, 256 tools, 256 agents), so that it costs at most some 10 µs, whatever the run's length.
func (r *Run) Size() int {
	s := &r.s
	size := bareSize + s.InputText + cap(s.Recent)*int(unsafe.Sizeof(Step{})) + cap(s.Open)*int(unsafe.Sizeof(openCall{}))
	for k := range s.Recent {
		size += s.Recent[k].texts()
	}
	for k := range s.Open {
		o := &s.Open[k]
		size += o.Step.texts() + len(o.Call) + len(o.Span)
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
	return size
}

// texts is how many bytes the step's names have that it may hold alone.
func (s *Step) texts() int { return len(s.Agent) + len(s.Start.ID) + len(s.End.ID) }

func (g *generation) size() int { return cap(g.entries)*entrySize + 2*cap(g.places) }
