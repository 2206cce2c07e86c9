package portal

import (
	"context"
	"iter"
	"slices"

	"github.com/webrace/webrace/storage/control"
)

// route is a line of the table of what the application answers. Exactly one of its handlers is there, which says who
// may come in.
type route struct {
	pattern string // as [http.ServeMux] reads it
	open    func(*visit, *control.Store) error
	own     func(*visit, control.Owned) error // who has logged in; for what is theirs
	admin   func(*visit, accounts) error      // who may manage accounts

	section   string // of the navigation that it belongs to; empty: none
	program   bool   // a program may ask, with a token of its owner's; of GET alone
	stateless bool   // it looks at no session
	long      bool   // it may take as long as any answer, though it is a POST
	most      int64  // bytes of the body; 0: what a form may have
}

// accounts is what those who manage accounts may do: it shows no annotation and no page.
type accounts interface {
	Accounts(context.Context) iter.Seq2[control.Account, error]
	Account(ctx context.Context, owner string) (control.Account, error)
	AddAccount(ctx context.Context, a control.Account, inherit bool) error
	ChangeAccount(ctx context.Context, owner string, change func(*control.Account) error) error
	AddToken(ctx context.Context, text string, t control.Token) error

	Owners(context.Context) iter.Seq2[control.Owner, error]
	Quota(ctx context.Context, owner string) (requests int, err error)
	SetQuota(ctx context.Context, owner string, requests int) error
	Budget(ctx context.Context, owner string) (control.Budget, error)
	SetBudget(ctx context.Context, owner string, b *control.Budget) error
	AllChannels(context.Context) iter.Seq2[control.Channel, error]
	DeadMessages(context.Context) (map[int64]int, error)
}

// What the bodies of requests may have, in bytes.
const (
	mostOfForm   = 1 << 20
	mostOfImport = 16 << 20
)

// routes is the whole table: nothing else is answered. Each change is a POST, and no GET changes anything. Each part of
// it stands in the file of its handlers.
func routes() []route {
	return slices.Concat(doorRoutes, inboxRoutes, interestRoutes, whyRoutes, importRoutes, channelRoutes, settingsRoutes, adminRoutes, []route{{pattern: "/", open: showNothing}})
}

// doorRoutes are those of who has not logged in yet.
var doorRoutes = []route{
	{pattern: "GET /healthz", open: showHealth, stateless: true},
	{pattern: "GET /asset/{sum}/{name}", open: showAsset, stateless: true},
	{pattern: "GET /login", open: showLogin},
	{pattern: "POST /login", open: logIn},
	{pattern: "POST /logout", own: logOut},
	{pattern: "GET /in/{token}", open: showLink},
	{pattern: "POST /in/{token}", open: useLink},
	{pattern: "GET /forgot", open: showForgot},
	{pattern: "POST /forgot", open: forgot},
	{pattern: "GET /join", open: showJoin},
	{pattern: "POST /join", open: join},
}
