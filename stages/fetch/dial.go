package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/webrace/webrace/internal/netguard"
)

// placeholder is in the user agent of whoever has not said who they are.
const placeholder = "example.org/contact"

// dialer connects to hosts by name, to none but the addresses that it may.
type dialer struct {
	net     net.Dialer
	names   *names
	timeout time.Duration
	closed  context.Context // ends what is being dialled
}

func newDialer(o Options, guard *netguard.Guard, closed context.Context) *dialer {
	anonymous := strings.Contains(o.UserAgent, placeholder)
	return &dialer{
		names: newNames(net.DefaultResolver), timeout: time.Duration(o.ConnectTimeout), closed: closed,
		net: net.Dialer{Control: func(network, address string, c syscall.RawConn) error {
			if err := guard.Control(network, address, c); err != nil {
				return err
			}
			if target, err := netip.ParseAddrPort(address); err != nil || anonymous && !guard.Admitted(target.Addr()) {
				return &contactError{target.Addr()}
			}
			return nil
		}},
	}
}

// contactError says that a public server is not asked by somebody who does not say who they are.
type contactError struct{ addr netip.Addr }

func (e *contactError) Error() string {
	return fmt.Sprintf("refused to ask the public address %s: the user agent names no contact (to name one: "+
		"WEBRACE_CONTACT=… or --set fetch.user_agent=…)", e.addr)
}

// dial tries the host's addresses one after the other, each for its share of the time.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	stop := context.AfterFunc(d.closed, cancel)
	defer stop()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := d.names.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	var failure error
	deadline, _ := ctx.Deadline()
	for i, addr := range addrs {
		share := time.Until(deadline) / time.Duration(len(addrs)-i)
		conn, err := d.dialOne(ctx, network, net.JoinHostPort(addr.String(), port), share)
		if err == nil {
			return conn, nil
		}
		if failure == nil || isRefusal(failure) { // what is refused matters only if nothing else is there
			failure = err
		}
	}
	return nil, failure
}

func (d *dialer) dialOne(ctx context.Context, network, address string, within time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return d.net.DialContext(ctx, network, address)
}

// addressOf returns the address of an end of a connection.
func addressOf(addr net.Addr) netip.Addr {
	if tcp, ok := addr.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}
