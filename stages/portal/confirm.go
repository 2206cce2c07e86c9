package portal

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/webrace/webrace/storage/control"
)

// confirmation is what a link by which a mail address is confirmed is for. It is good for that address alone.
type confirmation struct {
	Channel int64  `json:"channel"`
	Address string `json:"address"` // its hash
}

func confirmationOf(c control.Channel) confirmation {
	to, _ := c.Address.Reveal()
	sum := sha256.Sum256([]byte(to))
	return confirmation{c.N, hex.EncodeToString(sum[:])}
}

// mailConfirmation mails the address of a channel the link by which it is confirmed.
func (v *visit) mailConfirmation(mine control.Owned, c control.Channel) error {
	data, err := json.Marshal(confirmationOf(c))
	if err != nil {
		return err
	}
	to, _ := c.Address.Reveal()
	token := rand.Text()
	if err := v.mailTo(mine.Owner(), to, "confirm", "/confirm/"+token); err != nil {
		return err
	}
	return mine.AddToken(v.r.Context(), token, control.Token{Purpose: control.PurposeConfirm, Data: data, Expires: v.tools.now().Add(linkLasts)})
}

// confirmFirst mails the link, and shows the channel, which is stored, whatever comes of that.
func (v *visit) confirmFirst(mine control.Owned, c control.Channel) error {
	err := v.mailConfirmation(mine, c)
	switch {
	case isRefusal(err):
		return v.see(pathOf(c), "channel_unmailed")
	case err != nil:
		return err
	}
	return v.see(pathOf(c), "channel_mailed")
}

// mailLinkAgain mails the link again by which a channel is confirmed.
func mailLinkAgain(v *visit, mine control.Owned, c control.Channel) error {
	if c.State != control.ChannelUnconfirmed || c.Kind != control.ChannelMail {
		return refuse(http.StatusConflict, "channel.not_unconfirmed")
	}
	if err := v.mailConfirmation(mine, c); err != nil {
		return err
	}
	return v.see(pathOf(c), "channel_mailed")
}

// confirmPage is what is shown of an address that is to be confirmed.
type confirmPage struct {
	Owner, Name, Site string
	Confirmed         bool
}

// toConfirm returns the channel that a link is for: unconfirmed, with the address that the link was mailed to.
func toConfirm(ctx context.Context, store *control.Store, token string) (control.Channel, error) {
	over := refuse(http.StatusGone, "confirm.over")
	t, err := store.Token(ctx, token, control.PurposeConfirm)
	var meant confirmation
	if err == nil && json.Unmarshal(t.Data, &meant) != nil {
		err = over
	}
	var c control.Channel
	if err == nil {
		c, err = store.Of(t.Owner).Channel(ctx, meant.Channel)
	}
	switch {
	case errors.Is(err, control.ErrNotFound):
		return c, over
	case err != nil:
		return c, err
	case c.Kind != control.ChannelMail || c.State != control.ChannelUnconfirmed || confirmationOf(c) != meant:
		return c, over
	}
	return c, nil
}

// showConfirmation shows a button. The link stays good: programs that look at mails follow links.
func showConfirmation(v *visit, store *control.Store) error {
	c, err := toConfirm(v.r.Context(), store, v.r.PathValue("token"))
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "confirm", confirmPage{Owner: c.Owner, Name: c.Name, Site: v.tools.options.Name})
}

// confirm has mails sent to an address, and uses the link up. Whoever has the link reads the mails of the address:
// nobody needs to be logged in.
func confirm(v *visit, store *control.Store) error {
	ctx, token := v.r.Context(), v.r.PathValue("token")
	c, err := toConfirm(ctx, store, token)
	if err != nil {
		return err
	}
	if _, err := store.UseToken(ctx, token, control.PurposeConfirm); err != nil {
		if errors.Is(err, control.ErrNotFound) {
			return refuse(http.StatusGone, "confirm.over")
		}
		return err
	}
	c.State = control.ChannelActive
	if err := store.Of(c.Owner).ChangeChannel(ctx, c); err != nil {
		return err
	}
	if v.account.Owner == c.Owner {
		return v.see(pathOf(c), "channel_confirmed")
	}
	return v.show(http.StatusOK, "confirm", confirmPage{Owner: c.Owner, Name: c.Name, Site: v.tools.options.Name, Confirmed: true})
}
