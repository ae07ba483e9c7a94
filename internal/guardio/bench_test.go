package guardio

import (
	"bufio"
	"fmt"
	"io"
	"testing"

	"github.com/unloop-ai/unloop/profile"
)

// BenchmarkServe measures a call, that is a before and an after with their answers, over two pipes within the process. The
// client sends ahead; the lines have about 190 bytes. calls/s is what a process reaches.
func BenchmarkServe(b *testing.B) {
	for _, name := range profile.Names() {
		b.Run("profile="+name, func(b *testing.B) {
			p, err := profile.New(name)
			if err != nil {
				b.Fatal(err)
			}
			in, requests := io.Pipe()
			answers, out := io.Pipe()
			served := make(chan error, 1)
			go func() { served <- Serve(b.Context(), p, Extras{}, in, out) }()
			b.ReportAllocs()
			go func() {
				w := bufio.NewWriterSize(requests, 64<<10)
				for k := range b.N {
					fmt.Fprintf(w, benchBefore, k, k%40, k)
					fmt.Fprintf(w, benchAfter, k, k%40, k)
				}
				_ = w.Flush() // the answers are counted below
				_ = requests.Close()
			}()
			lines := bufio.NewReader(answers)
			for range 2 * b.N {
				if _, err := lines.ReadSlice('\n'); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			if err := <-served; err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}

const (
	benchBefore = `{"op":"before","id":%d,"run":"run-%d","tool":"read_file","args":{"path":"src/module/part%d.go","offset":0,"limit":200,"encoding":"utf-8","reason":"look at how the request is parsed before the change"}}` + "\n"
	benchAfter  = `{"op":"after","id":%d,"run":"run-%d","tool":"read_file","result":{"content":"package module // part %d of many, with what a file has in it","lines":200,"truncated":false,"encoding":"utf-8"},"duration_ms":12.5}` + "\n"
)
