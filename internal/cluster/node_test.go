package cluster

import (
	"strings"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func TestAStreamThatHasNoRoomIsToldWithItsSetting(t *testing.T) {
	s, err := natsd.NewServer(&natsd.Options{
		Host: "127.0.0.1", Port: natsd.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), JetStreamMaxStore: 1 << 20, NoSigs: true, NoLog: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the NATS server does not take connections")
	}
	conn, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	n := &Node{o: Options{Replicas: 1, StreamSize: 1 << 30}}
	if n.js, err = jetstream.New(conn); err != nil {
		t.Fatal(err)
	}
	if err := n.findStream(t.Context()); err == nil || !strings.Contains(err.Error(), "a stream of 1073741824 bytes, which cluster.stream_size sets") {
		t.Errorf("got %v", err)
	}
}
