package main

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
)

func peopleCommand(ts *testscript.TestScript, _ bool, args []string) {
	withDir(ts, args[0], people)
}

// people has the accounts eleni and costas active, as the web application leaves them behind. Eleni has a secret, a
// mark on each of the annotations that she was told of, a channel on which a message was taken, one was given up and
// an entry waits, and a channel that is stopped, on which an entry waits, too.
func people(dir *storage.Dir) error {
	store, err := dir.Control()
	if err != nil {
		return err
	}
	ctx := context.Background()
	for _, owner := range []string{"eleni", "costas"} {
		err := store.AddAccount(ctx, control.Account{Owner: owner, State: control.AccountInvited, Mail: owner + "@a.example", Profile: []byte(`{"zone":"Europe/Nicosia"}`)}, true)
		if err == nil {
			err = store.SetPassword(ctx, owner, "argon2-hush-hash")
		}
		if err != nil {
			return err
		}
	}
	eleni := store.Of("eleni")
	secret, err := credentials.NewSecret(credentials.KindBearer, "", "hush-token")
	if err == nil {
		err = eleni.SetSecret(ctx, "own", secret)
	}
	if err != nil {
		return err
	}
	mail, err := eleni.AddChannel(ctx, control.Channel{
		Kind: control.ChannelMail, Name: "post", Address: channel.NewAddress("eleni@b.example", "key"), Settings: []byte(`{"hold":60}`), State: control.ChannelActive,
	})
	if err != nil {
		return err
	}
	hook, err := eleni.AddChannel(ctx, control.Channel{
		Kind: control.ChannelWebhook, Name: "hook", Address: channel.NewAddress("https://hook.example/hush-url", "key"), State: control.ChannelStopped,
	})
	if err != nil {
		return err
	}
	if err := sendAll(ctx, store, eleni, mail); err != nil {
		return err
	}
	if err := store.PutEntry(ctx, control.Entry{Channel: mail, Key: "notice", Body: []byte(`{"told":"of something else"}`), Due: fetchedAt}); err != nil {
		return err
	}
	if err := send(ctx, store, control.Attempt{Message: "m2", Said: "550 no such\n\tmailbox"}); err != nil {
		return err
	}
	for _, channel := range []int64{mail, hook} {
		if err := store.PutEntry(ctx, control.Entry{Channel: channel, Key: "later", Due: fetchedAt.Add(1e6 * time.Hour)}); err != nil {
			return err
		}
	}
	return nil
}

// sendAll has the annotations sent that an owner has inherited, as if they had come after the channel, and marks them
// useful.
func sendAll(ctx context.Context, store *control.Store, o control.Owned, channel int64) error {
	var seqs []int64
	for item, err := range o.Inbox(ctx, control.InboxFilter{}) {
		if err != nil {
			return err
		}
		seqs = append(seqs, item.Seq)
	}
	for _, seq := range seqs {
		if err := store.PutEntry(ctx, control.Entry{Channel: channel, Key: fmt.Sprint("aci ", seq), Due: fetchedAt}); err != nil {
			return err
		}
	}
	err := send(ctx, store, control.Attempt{Message: "m1", Taken: true, Said: "250 taken"})
	if err == nil {
		_, err = o.Mark(ctx, control.Useful, seqs...)
	}
	return err
}

// send sends what is due, as one message.
func send(ctx context.Context, store *control.Store, a control.Attempt) error {
	made, err := store.Compose(ctx, time.Now(), 9, func(int64, []string) string { return a.Message })
	if err == nil && len(made) != 1 {
		err = fmt.Errorf("message %s is made of %v", a.Message, made)
	}
	if err == nil {
		_, err = store.Attempted(ctx, a)
	}
	return err
}

var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

func unpack(ts *testscript.TestScript, _ bool, args []string) {
	path := ts.MkAbs(args[0])
	info, err := os.Stat(path)
	ts.Check(err)
	if mode := info.Mode().Perm(); mode != 0o600 {
		ts.Fatalf("others may read %s: its mode is %v", path, mode)
	}
	archive, err := zip.OpenReader(path)
	ts.Check(err)
	defer archive.Close()
	for _, file := range archive.File {
		in, err := file.Open()
		ts.Check(err)
		content, err := io.ReadAll(in)
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(file.Name), moment.ReplaceAll(content, []byte("TIME")), 0o600))
	}
}
