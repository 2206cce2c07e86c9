package portal

import (
	"cmp"
	"crypto/rand"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/storage/control"
)

func numberPath(n int64) string { return strconv.FormatInt(n, 10) }

// backFrom returns where a form wants its sender led to: to the page of the channel, if it does not say.
func backFrom(f *form, c control.Channel) string { return back(cmp.Or(f.Value("to"), pathOf(c))) }

// enterState gives a channel a state, if it is in one of others.
func (v *visit) enterState(mine control.Owned, c control.Channel, to control.ChannelState, done string, from ...control.ChannelState) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	if c.State == to {
		return v.see(backFrom(f, c), done)
	}
	if !slices.Contains(from, c.State) {
		return refuse(http.StatusConflict, "channel.not_in_state", text("channels.state."+string(c.State)))
	}
	c.State = to
	if err := mine.ChangeChannel(v.r.Context(), c); err != nil {
		return err
	}
	return v.see(backFrom(f, c), done)
}

// pauseChannel has nothing sent on a channel. One that is to be confirmed stays so.
func pauseChannel(v *visit, mine control.Owned, c control.Channel) error {
	return v.enterState(mine, c, control.ChannelPaused, "channel_paused", control.ChannelActive, control.ChannelStopped)
}

// resumeChannel has what is due sent again. One that is to be confirmed is not started so.
func resumeChannel(v *visit, mine control.Owned, c control.Channel) error {
	return v.enterState(mine, c, control.ChannelActive, "channel_resumed", control.ChannelPaused, control.ChannelStopped)
}

// longestMute is how long a channel may be muted by a button, in hours.
const longestMute = 31 * 24

// muteChannel holds back what is to be sent for some hours; for 0 it is muted no more.
func muteChannel(v *visit, mine control.Owned, c control.Channel) error {
	f, err := v.form()
	if err != nil {
		return err
	}
	hours := f.number("hours")
	if !f.ok() || hours < 0 || hours > longestMute || c.Kind == control.ChannelFeed {
		return refuse(http.StatusBadRequest, "error.form")
	}
	s, err := settingsOf(c)
	if err != nil {
		return refuse(http.StatusConflict, "channel.unreadable")
	}
	done := "channel_unmuted"
	s.MuteUntil = time.Time{}
	if hours > 0 {
		s.MuteUntil = v.tools.now().Add(time.Duration(hours) * time.Hour).UTC().Truncate(time.Minute)
		done = "channel_muted"
	}
	c.Settings = encodeSettings(s)
	if err := mine.ChangeChannel(v.r.Context(), c); err != nil {
		return err
	}
	return v.see(backFrom(f, c), done)
}

// renewKey gives a channel another key: signatures are made with it from then on, and a feed is at another address.
func renewKey(v *visit, mine control.Owned, c control.Channel) error {
	if c.Kind == control.ChannelMail {
		return refuse(http.StatusConflict, "channel.no_key")
	}
	to, _ := c.Address.Reveal()
	c.Address = channel.NewAddress(to, rand.Text())
	if err := mine.ChangeChannel(v.r.Context(), c); err != nil {
		return err
	}
	if c.Kind == control.ChannelWebhook {
		return v.showKey(c)
	}
	return v.see(pathOf(c), "feed_renewed")
}

// keyPage is what is shown when a channel was given a key.
type keyPage struct {
	N         int64
	Name, Key string
}

// showKey shows the key of a channel, which it is the only page to do.
func (v *visit) showKey(c control.Channel) error {
	_, key := c.Address.Reveal()
	return v.show(http.StatusOK, "channel_key", keyPage{c.N, c.Name, key})
}

// askWhetherToDelete shows what goes with a channel.
func askWhetherToDelete(v *visit, mine control.Owned, c control.Channel) error {
	waiting, err := mine.WaitingEntries(v.r.Context())
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "channel_delete", v.channelRow(c, waiting[c.N]))
}

// deleteChannel removes a channel, with what was sent on it, or waits.
func deleteChannel(v *visit, mine control.Owned, c control.Channel) error {
	if err := mine.DeleteChannel(v.r.Context(), c.N); err != nil {
		return err
	}
	return v.see("/channels", "channel_deleted")
}
