package portal

import (
	"context"
	"net/http"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/storage/control"
)

// offPage is what is shown of mails that are to be stopped.
type offPage struct {
	Name, Site string
	Stopped    bool
}

// channelByToken returns the channel whose mails a token stops.
func channelByToken(ctx context.Context, store *control.Store, token string) (control.Channel, error) {
	n, is := channel.NumberIn(token)
	if !is {
		return control.Channel{}, control.ErrNotFound
	}
	c, err := store.Channel(ctx, n)
	if err == nil && (c.Kind != control.ChannelMail || !channel.Unsubscribes(token, n, c.Address)) {
		err = control.ErrNotFound
	}
	return c, err
}

// showUnsubscribe shows a button.
func showUnsubscribe(v *visit, store *control.Store) error {
	c, err := channelByToken(v.r.Context(), store, v.r.PathValue("token"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "off", offPage{Name: c.Name, Site: v.tools.options.Name})
}

// unsubscribe pauses a channel. A mail provider asks for it on behalf of whoever reads the mail, with one request and
// no cookie (RFC 8058), as often as it likes.
func unsubscribe(v *visit, store *control.Store) error {
	ctx := v.r.Context()
	c, err := channelByToken(ctx, store, v.r.PathValue("token"))
	if err != nil {
		return err
	}
	if c.State == control.ChannelActive || c.State == control.ChannelStopped { // on others nothing is sent
		c.State = control.ChannelPaused
		if err := store.Of(c.Owner).ChangeChannel(ctx, c); err != nil {
			return err
		}
		v.tools.env.Counter("unsubscribed").Add(1)
	}
	return v.show(http.StatusOK, "off", offPage{Name: c.Name, Site: v.tools.options.Name, Stopped: true})
}
