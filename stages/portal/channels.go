package portal

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/storage/control"
)

// channelRoutes are those of the ways by which one is told, and of what was sent on them.
var channelRoutes = []route{
	{pattern: "GET /channels", own: showChannels, section: "channels"},
	{pattern: "GET /channels/new/mail", own: showNewChannel(control.ChannelMail), section: "channels"},
	{pattern: "GET /channels/new/webhook", own: showNewChannel(control.ChannelWebhook), section: "channels"},
	{pattern: "GET /channels/new/feed", own: showNewChannel(control.ChannelFeed), section: "channels"},
	{pattern: "POST /channels/new/mail", own: addChannel(control.ChannelMail), section: "channels"},
	{pattern: "POST /channels/new/webhook", own: addChannel(control.ChannelWebhook), section: "channels"},
	{pattern: "POST /channels/new/feed", own: addChannel(control.ChannelFeed), section: "channels"},
	{pattern: "GET /channels/{n}", own: onChannel(showChannel), section: "channels"},
	{pattern: "POST /channels/{n}", own: onChannel(changeChannel), section: "channels"},
	{pattern: "POST /channels/{n}/pause", own: onChannel(pauseChannel)},
	{pattern: "POST /channels/{n}/resume", own: onChannel(resumeChannel)},
	{pattern: "POST /channels/{n}/mute", own: onChannel(muteChannel)},
	{pattern: "POST /channels/{n}/test", own: onChannel(testChannel), section: "channels", long: true},
	{pattern: "POST /channels/{n}/link", own: onChannel(mailLinkAgain)},
	{pattern: "POST /channels/{n}/renew", own: onChannel(renewKey), section: "channels"},
	{pattern: "GET /channels/{n}/delete", own: onChannel(askWhetherToDelete), section: "channels"},
	{pattern: "POST /channels/{n}/delete", own: onChannel(deleteChannel)},
	{pattern: "GET /deliveries", own: showDeliveries, section: "deliveries"},
	{pattern: "POST /deliveries/{id}/again", own: sendAgain},
	{pattern: "GET /confirm/{token}", open: showConfirmation},
	{pattern: "POST /confirm/{token}", open: confirm},
	{pattern: "GET /off/{token}", open: showUnsubscribe, stateless: true},
	{pattern: "POST /off/{token}", open: unsubscribe, stateless: true},
	{pattern: "GET /feed/{name}", open: showFeed, stateless: true},
}

// onChannel makes a handler of what is done with the one of the owner's channels that the path names.
func onChannel(do func(*visit, control.Owned, control.Channel) error) func(*visit, control.Owned) error {
	return func(v *visit, mine control.Owned) error {
		n, err := v.number("n")
		if err != nil {
			return err
		}
		c, err := mine.Channel(v.r.Context(), n)
		if err != nil {
			return err
		}
		return do(v, mine, c)
	}
}

// settingsOf reads the settings of a channel. The error is of what is wrong with the fields that are returned, or that
// they cannot be read at all.
func settingsOf(c control.Channel) (channel.Settings, error) {
	if len(c.Settings) == 0 {
		return channel.Settings{}, nil
	}
	return channel.Parse(c.Settings)
}

func encodeSettings(s channel.Settings) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // of texts, numbers, and a time whose year was checked
	}
	return b
}

// channelsPage is what is shown of all channels.
type channelsPage struct {
	Rows []channelRow
	Full bool // no more may be added
	Most int
}

// channelRow is a channel in a list.
type channelRow struct {
	N                        int64
	Name, Kind, Where, State string
	Unconfirmed, Stopped     bool
	Waiting                  int    // annotations that wait to be sent
	Muted                    string // until when; empty: it is not
	Said                     string // by its receiver, to the last message that was refused
}

// showChannels shows all channels.
func showChannels(v *visit, mine control.Owned) error {
	waiting, err := mine.WaitingEntries(v.r.Context())
	if err != nil {
		return err
	}
	p := channelsPage{Most: control.MostChannels}
	for c, err := range mine.Channels(v.r.Context()) {
		if err != nil {
			return err
		}
		p.Rows = append(p.Rows, v.channelRow(c, waiting[c.N]))
	}
	p.Full = len(p.Rows) >= control.MostChannels
	return v.show(http.StatusOK, "channels", p)
}

// channelRow is a channel as a list shows it. The URL of a webhook may be as good as a password: its host is shown.
func (v *visit) channelRow(c control.Channel, waiting int) channelRow {
	row := channelRow{
		N: c.N, Name: c.Name, Kind: text("channels.kind." + string(c.Kind)),
		Unconfirmed: c.State == control.ChannelUnconfirmed, Stopped: c.State == control.ChannelStopped, Waiting: waiting, Said: c.Said,
	}
	if c.State != "" { // of one that is stored
		row.State = text("channels.state." + string(c.State))
	}
	switch to, _ := c.Address.Reveal(); c.Kind {
	case control.ChannelMail:
		row.Where = to
	case control.ChannelWebhook:
		row.Where = c.Address.String()
	}
	if s, err := settingsOf(c); err == nil && s.MuteUntil.After(v.tools.now()) {
		row.Muted = v.moment(s.MuteUntil)
	}
	return row
}

// isRefusal reports whether an error is one that people are told as it is.
func isRefusal(err error) bool {
	var refused *refusal
	return errors.As(err, &refused)
}
