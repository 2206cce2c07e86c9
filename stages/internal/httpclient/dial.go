package httpclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/webrace/webrace/internal/descriptors"
	"github.com/webrace/webrace/stages/internal/netguard"
)

// dialer connects to hosts by name, to none but the addresses that it may.
type dialer struct {
	names     *dnsCache
	guard     *netguard.Guard
	anonymous bool // the user agent names no contact
	timeout   time.Duration
	closed    context.Context // ends what is being dialled
}

func newDialer(o Config, guard *netguard.Guard, count func(counter string), closed context.Context) *dialer {
	return &dialer{
		names: newDNSCache(o.Options, count), guard: guard, anonymous: o.Anonymous,
		timeout: o.ConnectTimeout, closed: closed,
	}
}

// ContactError means that a public server is not asked by an operator who does not tell who they are.
type ContactError struct{ addr netip.Addr }

func (e *ContactError) Error() string {
	what := "a host of unknown address"
	if e.addr.IsValid() {
		what = "the public address " + e.addr.String()
	}
	return fmt.Sprintf("refused to ask %s: the user agent names no contact (to name one: "+
		"WEBRACE_CONTACT=… or --set fetch.user_agent=…)", what)
}

// admit checks that a host at an address may be asked.
func (d *dialer) admit(addr netip.Addr) error {
	if err := d.guard.Check(addr); err != nil {
		return err
	}
	if d.anonymous && !d.guard.Admitted(addr) {
		return &ContactError{addr}
	}
	return nil
}

// control is asked of each address right before it is connected to.
func (d *dialer) control(network, address string, c syscall.RawConn) error {
	if err := d.guard.Control(network, address, c); err != nil {
		return err
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	return d.admit(target.Addr())
}

// dial connects to a host.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, end := d.within(ctx)
	defer end()
	return d.connect(ctx, network, address, d.control)
}

// within limits a context to the time for connecting, and to that of the dialer.
func (d *dialer) within(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	stop := context.AfterFunc(d.closed, cancel)
	return ctx, func() { stop(); cancel() }
}

// connect looks a host up, and connects to the first of its addresses that answers.
func (d *dialer) connect(ctx context.Context, network, address string, control func(network, address string, c syscall.RawConn) error) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := d.names.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	to := net.Dialer{Control: control}
	return d.tryEach(ctx, addrs, func(ctx context.Context, addr netip.Addr) (net.Conn, error) {
		return untilThereIsADescriptor(ctx, func() (net.Conn, error) {
			return to.DialContext(ctx, network, net.JoinHostPort(addr.String(), port))
		})
	})
}

// untilThereIsADescriptor repeats a connect while this process has no descriptor for it, which is no fault of the host.
func untilThereIsADescriptor(ctx context.Context, connect func() (net.Conn, error)) (net.Conn, error) {
	for {
		conn, err := connect()
		if !descriptors.Exhausted(err) {
			return conn, err
		}
		select {
		case <-time.After(pauseWithoutDescriptor):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// pauseWithoutDescriptor is how long a connect waits that found no descriptor.
const pauseWithoutDescriptor = 50 * time.Millisecond

// Address returns the address by which the host of a target is known; the zero one if it is not found, or is left to a
// proxy to find. Of several it is the least, whichever is connected to, so that names that have the same ones share
// it.
func (c *Client) Address(ctx context.Context, t Target) netip.Addr {
	host, _ := t.hostPort()
	if c.transports.proxies.resolve(t, host) {
		return netip.Addr{}
	}
	ctx, end := c.dialer.within(ctx)
	defer end()
	addrs, err := c.dialer.names.resolve(ctx, host)
	if err != nil {
		return netip.Addr{}
	}
	return slices.MinFunc(addrs, netip.Addr.Compare)
}

// tryEach tries addresses one after the other, each for its share of the time.
func (d *dialer) tryEach(ctx context.Context, addrs []netip.Addr, dial func(context.Context, netip.Addr) (net.Conn, error)) (net.Conn, error) {
	var failure error
	deadline, _ := ctx.Deadline()
	for i, addr := range addrs {
		share, end := context.WithTimeout(ctx, time.Until(deadline)/time.Duration(len(addrs)-i))
		conn, err := dial(share, addr)
		end()
		if err == nil {
			return conn, nil
		}
		if failure == nil || IsRefusal(failure) { // what is refused matters only if nothing else is there
			failure = err
		}
	}
	return nil, failure
}

// IsRefusal reports whether a connection was not made because it may not be: the address is outside the public
// Internet or of a family that is not connected to, the user agent names no contact, or no secure connection can
// be made.
func IsRefusal(err error) bool {
	var anonymous *ContactError
	var fault *TLSFault
	var family *FamilyError
	return netguard.IsRefused(err) || errors.As(err, &anonymous) || errors.As(err, &fault) || errors.As(err, &family)
}

// FailedAddress returns the address at which a connection failed, the zero one if it is not known.
func FailedAddress(err error) netip.Addr {
	if failure, ok := errors.AsType[*net.OpError](err); ok && failure.Addr != nil {
		return addressOf(failure.Addr)
	}
	return netip.Addr{}
}

// addressOf returns the address of an end of a connection.
func addressOf(addr net.Addr) netip.Addr {
	if tcp, ok := addr.(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}
