package cli

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress shows on a terminal how much of the input has been read. It appears after one second.
type progress struct {
	w     io.Writer // nil without a terminal
	bar   *progressbar.ProgressBar
	begun time.Time
	read  int64
}

func newProgress(w io.Writer) *progress {
	p := &progress{begun: time.Now()}
	if isTerminal(w) {
		p.w = w
	}
	return p
}

func (p *progress) add(read, total int64) {
	p.read += read
	if p.w == nil || p.bar == nil && time.Since(p.begun) < time.Second {
		return
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(max(total, -1), progressbar.OptionSetWriter(p.w), progressbar.OptionShowBytes(true),
			progressbar.OptionSetDescription("reading"), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	_ = p.bar.Set64(min(p.read, max(total, p.read))) // an error of the progress bar does not fail the scan
}

func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// aboveBar writes lines above the progress bar.
type aboveBar struct {
	w   io.Writer
	bar *progress
}

func (a aboveBar) Write(p []byte) (int, error) {
	a.bar.clear()
	return a.w.Write(p)
}
