package webhook

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/internal/sink"
)

func TestOnlyPublicAddressesAreReachedWhereThatIsAsked(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true,
		"127.0.0.1": false, "::1": false, "0.0.0.0": false, "0.1.2.3": false, "::": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "fe80::1": false, "fd00::1": false, "100.100.100.200": false, "224.0.0.1": false, "255.255.255.255": false,
		"::ffff:127.0.0.1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::1": false, "198.18.0.1": false,
		"168.63.129.16": false, "192.0.0.192": false, "250.1.2.3": false, "::7f00:1": false, "::ffff:0:7f00:1": false, "64:ff9b:1::7f00:1": false,
		"2001:0:7f00:1::": false, "fec0::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(address).Unmap()); got != want {
			t.Errorf("%s is public: %v, want %v", address, got, want)
		}
	}
}

func TestAnEndpointThatIsNotPublicIsRefusedAtOnce(t *testing.T) {
	to := &receiver{}
	address := listen(t, to)
	for _, url := range []string{address + "/secret", strings.Replace(address, "127.0.0.1", "localhost", 1)} {
		targets, err := Targets(Options{Endpoints: []Endpoint{{URL: url}}, PublicOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		err = targets[0].Notifier.Send(t.Context(), sink.TestNotice(time.Now()))
		refused, ok := errors.AsType[*sink.Refusal](err)
		if !ok || !refused.Final || !strings.Contains(refused.Reason, "not a public address") || strings.Contains(refused.Reason, "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
	if got := to.came(); len(got) != 0 {
		t.Errorf("%d messages came", len(got))
	}
}

func TestATestMessageSaysThatItIsOne(t *testing.T) {
	for format, want := range map[string]string{FormatJSON: `"type":"test","level":"test"`, FormatSlack: `"text":"Test message of unloop"`} {
		to := &receiver{}
		targets, err := Targets(Options{Endpoints: []Endpoint{{URL: listen(t, to), Format: format}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := targets[0].Notifier.Send(t.Context(), sink.TestNotice(time.Now())); err != nil {
			t.Fatal(err)
		}
		if got := to.came(); len(got) != 1 || !strings.Contains(string(got[0].body), want) {
			t.Errorf("%s: %s", format, got[0].body)
		}
	}
}
