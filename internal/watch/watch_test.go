package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bench is a folder that is watched, with what was read of it.
type bench struct {
	t    *testing.T
	dir  string
	mu   sync.Mutex
	read []string // by reading: the file's name, then its content as far as it was read
	said []string // faults
	stop func()
}

// watch watches an empty folder, in a bubble. Reading is how a file is read; nil for all of it.
func watch(t *testing.T, o Options, reading func(*File, io.Writer) error) *bench {
	b := &bench{t: t, dir: t.TempDir()}
	b.begin(o, reading)
	return b
}

// begin watches the folder, in a bubble.
func (b *bench) begin(o Options, reading func(*File, io.Writer) error) {
	ctx, cancel := context.WithCancel(b.t.Context())
	if reading == nil {
		reading = func(f *File, w io.Writer) error {
			_, err := io.Copy(w, struct{ io.Reader }{f})
			return err
		}
	}
	w := New([]string{b.dir}, o, func(_ context.Context, f *File) error {
		b.mu.Lock()
		page := &page{b: b, at: len(b.read)}
		b.read = append(b.read, filepath.Base(f.Path)+":")
		b.mu.Unlock()
		return reading(f, page)
	}, func(path string, err error) { b.said = append(b.said, filepath.Base(path)+": "+err.Error()) })
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	synctest.Wait() // it has looked once
	b.stop = func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			b.t.Errorf("error %v", err)
		}
	}
}

// page takes what is read in one reading.
type page struct {
	b  *bench
	at int
}

func (p *page) Write(data []byte) (int, error) {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	p.b.read[p.at] += string(data)
	return len(data), nil
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// put writes a file anew, or with + in front adds to it.
func (b *bench) put(name, text string) {
	b.t.Helper()
	flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if strings.HasPrefix(text, "+") {
		flags, text = os.O_WRONLY|os.O_CREATE|os.O_APPEND, text[1:]
	}
	f, err := os.OpenFile(b.path(name), flags, 0o600)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		b.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) rename(from, to string) {
	b.t.Helper()
	if err := os.Rename(b.path(from), b.path(to)); err != nil {
		b.t.Fatal(err)
	}
}

// wait lets the watcher look a few times.
func (b *bench) wait() {
	time.Sleep(5 * time.Second)
	synctest.Wait()
}

func (b *bench) want(read ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	got := slices.Clone(b.read)
	slices.Sort(got) // readers work side by side
	slices.Sort(read)
	if diff := cmp.Diff(read, got); diff != "" {
		b.t.Error(diff)
	}
}

func TestWatch(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(b *bench)
		want []string
	}{
		{"a file that grows is read once, as it grows", func(b *bench) {
			b.put("a", "one ")
			b.wait()
			b.want("a:one ")
			b.put("a", "+two ")
			b.wait()
			b.put("a", "+three")
		}, []string{"a:one two three"}},
		{"files in folders; hidden ones are left out", func(b *bench) {
			if err := errors.Join(os.MkdirAll(b.path("sub/deep"), 0o700), os.Mkdir(b.path(".git"), 0o700)); err != nil {
				b.t.Fatal(err)
			}
			b.put("sub/deep/c", "3")
			b.put(".git/x", "no")
			b.put(".hidden", "no")
			b.put("b", "2")
			b.wait()
			b.put("sub/new", "4")
		}, []string{"b:2", "c:3", "new:4"}},
		{"a link and a pipe are left alone", func(b *bench) {
			b.put("a", "1")
			if err := errors.Join(os.Symlink(b.path("a"), b.path("link")), pipe(b.path("pipe"))); err != nil {
				b.t.Fatal(err)
			}
		}, []string{"a:1"}},
		{"rotation: the renamed file continues, and a new file begins", func(b *bench) {
			b.put("log", "1")
			b.wait()
			b.put("log", "+2")
			b.rename("log", "log.1")
			b.put("log", "a")
			b.wait()
			b.put("log.1", "+3") // by a program that has not noticed yet
			b.put("log", "+b")
		}, []string{"log:123", "log:ab"}},
		{"a second rotation", func(b *bench) {
			b.put("log", "1")
			b.wait()
			b.rename("log", "log.1")
			b.put("log", "2")
			b.wait()
			b.rename("log.1", "log.2")
			b.rename("log", "log.1")
			b.put("log", "3")
			b.wait()
			b.put("log", "+!")
		}, []string{"log:1", "log:2", "log:3!"}},
		{"truncation", func(b *bench) {
			b.put("log", "a long beginning")
			b.wait()
			b.put("log", "new")
			b.wait()
			b.put("log", "+er")
		}, []string{"log:a long beginning", "log:newer"}},
		{"truncation that is seen when the file has grown beyond where it was", func(b *bench) {
			b.put("log", "first")
			b.wait()
			b.put("log", "second and longer")
		}, []string{"log:first", "log:second and longer"}},
		{"deletion, after more was written", func(b *bench) {
			b.put("a", "1")
			b.wait()
			b.put("a", "+2")
			if err := os.Remove(b.path("a")); err != nil {
				b.t.Fatal(err)
			}
			b.wait()
			b.put("a", "new")
		}, []string{"a:12", "a:new"}},
		{"a file that is replaced by another", func(b *bench) {
			b.put("a", "old")
			b.wait()
			b.put("b.tmp", "new and longer")
			b.rename("b.tmp", "a")
		}, []string{"a:old", "a:new and longer"}},
		{"a file that is idle is let go, and read anew when it grows", func(b *bench) {
			b.put("a", "1")
			b.wait()
			time.Sleep(time.Hour)
			b.put("a", "+2")
		}, []string{"a:1", "a:12"}},
		{"a folder that goes away and comes back", func(b *bench) {
			b.put("a", "1")
			b.wait()
			if err := os.RemoveAll(b.dir); err != nil {
				b.t.Fatal(err)
			}
			b.wait()
			if err := os.Mkdir(b.dir, 0o700); err != nil {
				b.t.Fatal(err)
			}
			b.put("a", "2")
		}, []string{"a:1", "a:2"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := watch(t, Options{}, nil)
				tc.do(b)
				b.wait()
				b.stop()
				b.want(tc.want...)
			})
		})
	}
}

func TestATruncatedFileIsReported(t *testing.T) {
	header := strings.Repeat("#", headBytes)
	for _, tc := range []struct {
		name    string
		reading func(*File, io.Writer) error
		do      func(b *bench)
		want    []string
	}{
		{"its end may not have been read", nil, func(b *bench) {
			b.put("log", "a long beginning")
			b.wait()
			b.put("log", "+ lost")
			b.put("log", "new")
		}, []string{"log: the file was truncated or written anew; lines that were written just before may be missing (a log that is renamed loses none)"}},
		{"it begins as before and is longer", nil, func(b *bench) {
			b.put("log", header+"one, ")
			b.wait()
			b.put("log", header+"another, longer")
		}, []string{"log: the file was truncated or written anew; lines that were written just before may be missing (a log that is renamed loses none)"}},
		{"it grows", nil, func(b *bench) {
			b.put("log", header+"one, ")
			b.wait()
			b.put("log", "+two")
		}, nil},
		{"part of what was seen was not read", func(f *File, w io.Writer) error {
			if _, err := io.CopyN(w, f, 4); err != nil {
				return err
			}
			<-f.over
			_, err := io.Copy(w, struct{ io.Reader }{f})
			return err
		}, func(b *bench) {
			b.put("log", "read and not read")
			b.wait()
			b.put("log", "new")
			b.wait()
		}, []string{"log: the file was truncated before 13 bytes of it were read"}},
		{"a log that is renamed is not truncated", nil, func(b *bench) {
			b.put("log", "1")
			b.wait()
			b.rename("log", "log.1")
			b.put("log", "2")
		}, nil},
		{"a document that is written anew loses nothing", func(f *File, w io.Writer) error {
			if err := f.WaitQuiet(); err != nil {
				return err
			}
			_, err := io.Copy(w, struct{ io.Reader }{f})
			return err
		}, func(b *bench) {
			b.put("log", "long")
			b.wait()
			b.put("log", "new")
		}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := watch(t, Options{}, tc.reading)
				tc.do(b)
				b.wait()
				b.stop()
				if diff := cmp.Diff(tc.want, b.said); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestSettledFilesAreReadWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := watch(t, Options{}, func(f *File, w io.Writer) error {
			if err := f.WaitQuiet(); err != nil {
				return err
			}
			_, err := io.Copy(w, struct{ io.Reader }{f})
			return err
		})
		b.put("doc", "{half")
		time.Sleep(2 * time.Second) // it is written still
		b.put("doc", "{all}")
		b.wait()
		b.want("doc:{all}")
		b.wait()
		b.put("doc", "{all, more}")
		b.wait()
		b.stop()
		b.want("doc:{all}", "doc:{all, more}")
	})
}

func TestAllFilesAreWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := watch(t, Options{Open: 2}, nil)
		for _, name := range []string{"a", "b", "c", "d"} {
			b.put(name, "1")
		}
		b.wait()
		b.want("a:1", "b:1", "c:1", "d:1")
		b.put("a", "+2") // it was let go for another
		b.wait()
		b.stop()
		b.want("a:1", "b:1", "c:1", "d:1", "a:12")
	})
}

func TestFailedReadersAreRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := watch(t, Options{}, func(f *File, w io.Writer) error {
			head, err := f.Head(10)
			if _, err := w.Write(head); err != nil {
				return err
			}
			switch {
			case err != nil:
				return err
			case strings.HasPrefix(string(head), "bad"):
				return errors.New("this is bad")
			}
			return ErrNotWanted
		})
		b.put("bad", "bad")
		b.put("not", "not wanted")
		b.wait()
		b.put("bad", "+der")
		b.put("not", "+, really")
		b.wait()
		b.want("bad:bad", "not:not wanted") // not at once
		time.Sleep(time.Minute)
		b.stop()
		b.want("bad:bad", "not:not wanted", "bad:badder", "not:not wanted")
		if diff := cmp.Diff([]string{"bad: this is bad"}, b.said); diff != "" {
			t.Error(diff)
		}
	})
}

func TestOnceReadsExistingFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var mu sync.Mutex
	read := make(map[string]string)
	w := New([]string{dir}, Options{Once: true, Open: 2}, func(_ context.Context, f *File) error {
		if err := f.WaitQuiet(); err != nil {
			return err
		}
		text, err := io.ReadAll(f)
		mu.Lock()
		defer mu.Unlock()
		read[filepath.Base(f.Path)] = string(text)
		return err
	}, func(path string, err error) { t.Errorf("%s: %v", path, err) })
	if err := w.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"a": "a", "b": "b", "c": "c"}, read); diff != "" {
		t.Error(diff)
	}
}

func TestAMissingFolderIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w := New([]string{filepath.Join(t.TempDir(), "none")}, Options{}, nil, func(_ string, err error) { said = append(said, err.Error()) })
		if err := w.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if len(said) != 1 || !strings.Contains(said[0], "no such file") {
			t.Errorf("said %q", said)
		}
	})
}

// holding returns how to read files: those whose names begin with "slow" only when released is closed.
func holding(released <-chan struct{}) func(*File, io.Writer) error {
	return func(f *File, w io.Writer) error {
		if strings.HasPrefix(filepath.Base(f.Path), "slow") {
			<-released
			return nil
		}
		_, err := io.Copy(w, struct{ io.Reader }{f})
		return err
	}
}

func TestALogThatIsRotatedWhileItWaitsIsReadToItsEnd(t *testing.T) {
	for _, once := range []bool{false, true} {
		t.Run(fmt.Sprint("once ", once), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				released := make(chan struct{})
				b := &bench{t: t, dir: t.TempDir()}
				b.put("slow1", "x")
				b.put("slow2", "x")
				b.put("zlog", "the old log")
				b.begin(Options{Open: 2, Once: once}, holding(released)) // both slow files are being read, and the log waits
				b.rename("zlog", "zlog.1")
				b.put("zlog", "new")
				close(released)
				if once {
					synctest.Wait()
				} else {
					b.wait()
					b.stop()
				}
				b.want("slow1:", "slow2:", "zlog.1:the old log", "zlog:new")
			})
		})
	}
}
