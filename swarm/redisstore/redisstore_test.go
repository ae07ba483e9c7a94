package redisstore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/rueidis"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/redistest"
	"github.com/unloop-ai/unloop/swarm"
	"github.com/unloop-ai/unloop/swarm/redisstore"
	"github.com/unloop-ai/unloop/swarm/swarmtest"
)

// worker is the environment variable that makes the test program a worker of the swarm at that address.
const worker = "UNLOOP_TEST_WORKER_OF_REDIS"

func TestMain(m *testing.M) {
	if address := os.Getenv(worker); address != "" {
		if err := work(address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func open(t testing.TB, client rueidis.Client, o redisstore.Options) *redisstore.Store {
	t.Helper()
	s, err := redisstore.New(client, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func call(fingerprint int) []swarm.Call {
	return []swarm.Call{{Fingerprint: unloop.Hash(fingerprint), Tool: "search", Worker: "w"}}
}

func TestConformance(t *testing.T) {
	server := redistest.Start(t)
	client := server.Client(t)
	swarmtest.Conform(t, func(t *testing.T) swarm.Store {
		server.Do(t, "FLUSHALL")
		return open(t, client, redisstore.DefaultOptions())
	})
}

const callsOfAProcess = 250

// work records calls of one fingerprint and prints the count after each.
func work(address string) error {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address}, AlwaysPipelining: true, DisableCache: true})
	if err != nil {
		return err
	}
	defer client.Close()
	s, err := redisstore.New(client, redisstore.DefaultOptions())
	if err != nil {
		return err
	}
	for range callsOfAProcess {
		counts, err := s.Record(context.Background(), "goal", []swarm.Call{{Fingerprint: 7, Tool: "search", Worker: strconv.Itoa(os.Getpid())}})
		if err != nil {
			return err
		}
		fmt.Println(counts[0].Calls)
	}
	return nil
}

func TestSixteenProcessesCountEachCallOnce(t *testing.T) {
	server := redistest.Start(t)
	const processes = 16
	outputs := make([]string, processes)
	var group sync.WaitGroup
	for k := range processes {
		group.Go(func() {
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), worker+"="+server.Address)
			child.Stderr = os.Stderr
			output, err := child.Output()
			if err != nil {
				t.Errorf("process %d: %v", k, err)
			}
			outputs[k] = string(output)
		})
	}
	group.Wait()
	var told []int
	for _, number := range strings.Fields(strings.Join(outputs, " ")) {
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatal(err)
		}
		told = append(told, n)
	}
	slices.Sort(told)
	want := make([]int, processes*callsOfAProcess)
	for k := range want {
		want[k] = k + 1
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("counts of all processes (-want +got):\n%s", diff)
	}
	after, err := open(t, server.Client(t), redisstore.DefaultOptions()).Record(t.Context(), "goal", call(7))
	if err != nil || after[0].Workers != processes+1 {
		t.Errorf("got %+v, %v, want %d workers", after, err, processes+1)
	}
}

func TestASwarmIsBoundedAndKeepsRecentlyUsedCounts(t *testing.T) {
	server := redistest.Start(t)
	const most = 10
	s := open(t, server.Client(t), redisstore.Options{Fingerprints: most, Expiry: time.Hour})
	for n := range 20 * most {
		for _, fingerprint := range []int{1, 100 + n} {
			if _, err := s.Record(t.Context(), "goal", call(fingerprint)); err != nil {
				t.Fatal(err)
			}
		}
	}
	data, err := s.Snapshot(t.Context(), "goal")
	if err != nil {
		t.Fatal(err)
	}
	var taken swarm.Snapshot
	if err := json.Unmarshal(data, &taken); err != nil {
		t.Fatal(err)
	}
	if n := len(taken.Fingerprints); n < most || n > 2*most {
		t.Errorf("%d fingerprints are kept, want %d to %d", n, most, 2*most)
	}
	if first := taken.Fingerprints[0]; first.Fingerprint != 1 || first.Calls != 20*most {
		t.Errorf("the call that was always used has %+v", first)
	}
	for _, key := range []string{"{unloop:swarm:goal}:young", "{unloop:swarm:goal}:old"} {
		if ttl := server.Do(t, "PTTL", key); strings.HasPrefix(ttl, "-") {
			t.Errorf("%s never expires: %s", key, ttl)
		}
	}
}

func TestErrorsNameInvalidOptions(t *testing.T) {
	_, err := redisstore.New(nil, redisstore.Options{Fingerprints: -1, Expiry: time.Millisecond})
	for _, want := range []string{"fingerprints is -1", "expiry is 1ms"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to name %q", err, want)
		}
	}
}
