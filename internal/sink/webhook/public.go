package webhook

import (
	"fmt"
	"net/netip"
	"syscall"
)

// notPublic is the error for an endpoint with an address that is not public.
type notPublic netip.Addr

func (e notPublic) Error() string {
	return fmt.Sprintf("%s is not a public address; such an endpoint needs to be in the configuration file", netip.Addr(e))
}

// publicOnly is the Control of a dialer. It sees the address that a name was resolved to, so no name can change its address between a
// check and the connection.
func publicOnly(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address of the endpoint: %w", err)
	}
	if ip := at.Addr().Unmap(); !isPublic(ip) {
		return notPublic(ip)
	}
	return nil
}

// shared are ranges that IsPrivate and IsGlobalUnicast count as public, and that reach networks of the machine or its provider.
var shared = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),        // this network
	netip.MustParsePrefix("100.64.0.0/10"),    // carrier-grade NAT, and metadata services
	netip.MustParsePrefix("168.63.129.16/32"), // the service of Azure for its machines
	netip.MustParsePrefix("192.0.0.0/24"),     // protocols, and a metadata service
	netip.MustParsePrefix("198.18.0.0/15"),    // benchmarks
	netip.MustParsePrefix("240.0.0.0/4"),      // reserved
	netip.MustParsePrefix("::/96"),            // IPv4 addresses of any kind, as the next four
	netip.MustParsePrefix("::ffff:0:0:0/96"),  // translated
	netip.MustParsePrefix("64:ff9b::/96"),     // NAT64
	netip.MustParsePrefix("64:ff9b:1::/48"),   // NAT64 of a network
	netip.MustParsePrefix("2002::/16"),        // 6to4
	netip.MustParsePrefix("2001::/32"),        // Teredo
	netip.MustParsePrefix("fec0::/10"),        // the former private networks
}

func isPublic(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, p := range shared {
		if p.Contains(ip) {
			return false
		}
	}
	return true
}
