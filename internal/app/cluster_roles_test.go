package app

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/config"
	"github.com/unloop-ai/unloop/internal/natstest"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

// TestRolesDivideTheWorkOfACluster starts a server for each role, sends events to one, and reads what another one recorded from the third.
func TestRolesDivideTheWorkOfACluster(t *testing.T) {
	t.Parallel()
	c := &testCluster{t: t, db: postgres.Database(t), url: natstest.Start(t, 0).ClientURL()}
	servers := make(map[string]Addresses)
	for _, roles := range []string{"ingest", "work", "api"} {
		servers[roles] = serveAt(t, func(o *config.Config) {
			c.configure(o)
			o.Cluster.Roles = roles
		})
	}
	edge, worker, reader := servers["ingest"], servers["work"], servers["api"]
	if edge.GRPC == "" || worker.GRPC != "" || reader.GRPC != "" {
		t.Errorf("gRPC is served at %q by the edge, %q by the worker and %q by the third server", edge.GRPC, worker.GRPC, reader.GRPC)
	}
	owned := make(map[bool]int) // by whether a server works
	eventually(t, time.Minute, "the worker does not own all partitions", func() bool {
		answer, err := http.Get(reader.URL + "/api/health")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK { // it has not joined yet
			return false
		}
		health := decoded[api.Health](t, read(t, answer))
		clear(owned)
		for _, s := range health.Cluster.Servers {
			owned[s.Works] += s.Partitions
		}
		return owned[true] == 64
	})
	for roles, want := range map[string][]int{ // of events, the list of runs, metrics
		"ingest": {http.StatusCreated, http.StatusNotFound, http.StatusOK},
		"work":   {http.StatusNotFound, http.StatusNotFound, http.StatusOK},
		"api":    {http.StatusNotFound, http.StatusOK, http.StatusOK},
	} {
		url := servers[roles].URL
		eventually(t, time.Minute, "the server with the role "+roles+" is not healthy", func() bool { // it may not have joined yet
			status, _ := answered(t, http.MethodGet, url+"/api/health", "")
			return status == http.StatusOK
		})
		status, _ := postLines(t, url, strings.NewReader(`{"event_id":"1","run_id":"other","type":"run_started"}`))
		got := []int{status}
		for _, path := range []string{"/api/runs", "/metrics"} {
			answer, err := http.Get(url + path)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			got = append(got, answer.StatusCode)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the server with the role %s (-want +got):\n%s", roles, diff)
		}
	}
	c.servers = []*process{{url: reader.URL}}
	stream := &streamReader{path: "/api/runs/r/stream", random: rand.New(rand.NewPCG(1, 1))}
	reading, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { stream.read(reading, c) })
	stuck(t, edge.URL, "r")
	eventually(t, time.Minute, "the stream lacks events", func() bool { return stream.has(48) })
	stop()
	done.Wait()
	c.drained(t)
	if metrics := string(get(t, worker.URL+"/metrics")); strings.Count(metrics, "\nunloop_partition_lag{partition=") != 64 ||
		!strings.Contains(metrics, "\nunloop_partition_lag{partition=\"63\"} 0\n") {
		t.Errorf("the worker's metrics lack the lag of partitions:\n%s", metrics)
	}
	if warnings := decoded[[]api.Warning](t, get(t, reader.URL+"/api/runs/r/warnings")); len(warnings) == 0 {
		t.Error("the run has no warnings")
	}
}
