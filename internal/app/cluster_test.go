package app

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/unloop-ai/unloop/internal/nettest"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

// victimNATS names the variable with the addresses of NATS for a server in a process of its own.
const victimNATS = "UNLOOP_TEST_VICTIM_NATS"

// victimAddr names the variable with the address of such a server. It is the same after each start.
const victimAddr = "UNLOOP_TEST_VICTIM_ADDR"

// victimWebhook names the variable with the addresses, separated by commas, to which such a server sends warnings.
const victimWebhook = "UNLOOP_TEST_VICTIM_WEBHOOK"

// victimIdle names the variable that makes such a server own no partitions. The stream that it creates is small.
const victimIdle = "UNLOOP_TEST_VICTIM_IDLE"

// natsServer names the variable that makes the test program a NATS server: its number, folder and the ports of all, joined by commas.
const natsServer = "UNLOOP_TEST_NATS"

// beNATS serves NATS until it is killed.
func beNATS(setting string) {
	parts := strings.Split(setting, ",")
	number, folder, ports := parts[0], parts[1], parts[2:]
	var own, routes int
	var peers []*url.URL
	for k, pair := range ports {
		var client, route int
		if _, err := fmt.Sscanf(pair, "%d-%d", &client, &route); err != nil {
			panic(err)
		}
		if fmt.Sprint(k) == number {
			own, routes = client, route
			continue
		}
		peers = append(peers, &url.URL{Scheme: "nats", Host: fmt.Sprint("127.0.0.1:", route)})
	}
	o := &natsd.Options{
		ServerName: "n" + number, Host: "127.0.0.1", Port: own, JetStream: true, StoreDir: folder, NoSigs: true, Routes: peers,
		JetStreamMaxMemory: 256 << 20, JetStreamMaxStore: 4 << 30,
	}
	if len(peers) > 0 {
		o.Cluster = natsd.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: routes}
	}
	s, err := natsd.NewServer(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if os.Getenv("UNLOOP_TEST_NATS_LOG") != "" {
		s.ConfigureLogger()
	}
	s.Start()
	s.WaitForShutdown()
}

// clusterName is the name of the servers of a cluster at PostgreSQL, which tests of other packages use at the same time.
const clusterName = "test-cluster"

// testCluster is a cluster on loopback: NATS servers, servers and a database, each server in a process of its own.
type testCluster struct {
	t       *testing.T
	db      string
	webhook string
	url     string   // of a NATS server in this process; "" if it has ports
	ports   []string // of the NATS servers: CLIENT-ROUTE
	nats    []*process
	servers []*process
	stopped *process // one of them, by stopServer

	connecting sync.Mutex          // guards js
	js         jetstream.JetStream // nil before connected

	mu sync.Mutex // guards the addresses of the servers
}

// process is a process of a test. It can be killed and started again.
type process struct {
	start func() (url string, kill func(), signal func(os.Signal), wait func())
	url   string
	kill  func()
	send  func(os.Signal)
	wait  func() // for its end
}

func (p *process) restart() { p.url, p.kill, p.send, p.wait = p.start() }

// stream returns the stream.
func (c *testCluster) stream(t *testing.T) jetstream.Stream {
	t.Helper()
	js := c.connected(t)
	var stream jetstream.Stream
	eventually(t, time.Minute, "the stream does not answer", func() (found bool) {
		var err error
		stream, err = js.Stream(t.Context(), "UNLOOP")
		return err == nil
	})
	return stream
}

// connected returns a connection to the NATS servers.
func (c *testCluster) connected(t *testing.T) jetstream.JetStream {
	t.Helper()
	c.connecting.Lock()
	defer c.connecting.Unlock()
	if c.js == nil {
		conn, err := nats.Connect(c.addresses(), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond), nats.Timeout(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		c.t.Cleanup(conn.Close)
		if c.js, err = jetstream.New(conn); err != nil {
			t.Fatal(err)
		}
	}
	return c.js
}

// leader returns the number of the NATS server that leads the stream.
func (c *testCluster) leader() (number int) {
	eventually(c.t, time.Minute, "the stream has no leader", func() bool {
		info := c.stream(c.t).CachedInfo().Cluster
		if info == nil {
			return false
		}
		_, err := fmt.Sscanf(info.Leader, "n%d", &number)
		return err == nil
	})
	return number
}

// lastMessage returns the number of the last message of a partition that is in the stream, or 0.
func (c *testCluster) lastMessage(t *testing.T, partition int) uint64 {
	t.Helper()
	stream := c.stream(t)
	for {
		m, err := stream.GetLastMsgForSubject(t.Context(), fmt.Sprint("unloop.in.", partition))
		switch {
		case err == nil:
			return m.Sequence
		case errors.Is(err, jetstream.ErrMsgNotFound):
			return 0
		case t.Context().Err() != nil:
			t.Fatal(err)
		}
	}
}

// startCluster starts so many NATS servers and servers.
func startCluster(t *testing.T, natsServers, servers int, webhook string) *testCluster {
	t.Helper()
	c := &testCluster{t: t, db: postgres.Database(t) + "&application_name=" + clusterName, webhook: webhook}
	for range natsServers {
		c.ports = append(c.ports, freePort(t)+"-"+freePort(t))
	}
	folder := t.TempDir()
	for k := range natsServers {
		p := &process{start: func() (string, func(), func(os.Signal), func()) {
			setting := fmt.Sprintf("%d,%s,%s", k, filepath.Join(folder, fmt.Sprint(k)), strings.Join(c.ports, ","))
			return startProcess(t, natsServer+"="+setting)
		}}
		p.restart()
		c.nats = append(c.nats, p)
	}
	for range servers {
		c.servers = append(c.servers, c.addServer())
	}
	return c
}

// addServer starts a server.
func (c *testCluster) addServer(env ...string) *process {
	c.t.Helper()
	env = append([]string{
		victimDB + "=" + c.db, victimAddr + "=" + nettest.FreeAddress(c.t), victimNATS + "=" + c.addresses(), victimWebhook + "=" + c.webhook,
	}, env...)
	p := &process{start: func() (string, func(), func(os.Signal), func()) { return startProcess(c.t, env...) }}
	p.restart()
	return p
}

// addresses returns the addresses of the NATS servers.
func (c *testCluster) addresses() string {
	if c.url != "" {
		return c.url
	}
	var all []string
	for _, pair := range c.ports {
		port, _, _ := strings.Cut(pair, "-")
		all = append(all, "nats://127.0.0.1:"+port)
	}
	return strings.Join(all, ",")
}

func freePort(t *testing.T) string {
	t.Helper()
	return strings.TrimPrefix(nettest.FreeAddress(t), "127.0.0.1:")
}

// startProcess starts the test program as another one. A server prints its address.
func startProcess(t *testing.T, env ...string) (address string, kill func(), signal func(os.Signal), wait func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env...)
	isServer := strings.HasPrefix(env[0], victimDB)
	if isServer {
		reports := filepath.Join(t.TempDir(), "race")
		cmd.Env = append(cmd.Env, "GORACE="+os.Getenv("GORACE")+" log_path="+reports)
		t.Cleanup(func() { failOnRaces(t, reports) })
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // which ends with this program
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait = sync.OnceFunc(func() { _ = cmd.Wait() })
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill() // SIGKILL; it may be gone by itself, which the next line finds
		wait()
	})
	t.Cleanup(kill)
	signal = func(s os.Signal) { _ = cmd.Process.Signal(s) }
	if !isServer {
		return "", kill, signal, wait
	}
	return readAddress(t, out, kill), kill, signal, wait
}

// failOnRaces fails the test if the race detector of a server has written reports to files that begin with a path.
func failOnRaces(t *testing.T, path string) {
	t.Helper()
	files, err := filepath.Glob(path + ".*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		report, err := os.ReadFile(file)
		t.Errorf("a server has a data race: %s (error %v)", report, err)
	}
}

// eventually fails the test unless the condition holds within a time.
func eventually(t *testing.T, within time.Duration, what string, holds func() bool) {
	t.Helper()
	until := time.Now().Add(within)
	for tick := time.NewTicker(50 * time.Millisecond); !holds(); <-tick.C {
		if time.Now().After(until) {
			t.Fatalf("after %v: %s", within, what)
		}
	}
}

// isOfCluster reports whether a cluster has written to the database.
func isOfCluster(t *testing.T, db string) (is bool) {
	t.Helper()
	if !strings.HasPrefix(db, "postgres") {
		return false
	}
	postgres.Value(t, db, `SELECT EXISTS (SELECT 1 FROM settings WHERE name = 'partitions')`, &is)
	return is
}
