package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"example.com/loyalty/core"
	"example.com/loyalty/core/auth"
	"example.com/loyalty/core/staff"
	"example.com/loyalty/core/tenant"
)

type adminCmd struct {
	Create        adminCreate        `cmd:"" help:"Create a super-admin. The password is generated and printed, or read from standard input."`
	ResetPassword adminResetPassword `cmd:"" help:"Set another password for a super-admin and sign them out everywhere."`
	ResetFactor   adminResetFactor   `cmd:"" help:"Turn off the two-step verification of a super-admin, or of a person of a business, who lost their phone."`
}

// passwordSource is where a command gets a password from.
type passwordSource struct {
	PasswordStdin bool `help:"Read the password from standard input instead of generating one."`
}

func (s passwordSource) password() (string, error) {
	if !s.PasswordStdin {
		return newPassword(), nil
	}
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil && line == "" {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// tell prints a generated password. Who typed one knows it.
func (s passwordSource) tell(password string) {
	if !s.PasswordStdin {
		fmt.Println("password:", password)
	}
}

type adminCreate struct {
	Email string `required:"" help:"Their e-mail address."`
	Name  string `required:"" help:"Their name."`
	passwordSource
}

// Run creates a super-admin.
func (cmd adminCreate) Run(ctx context.Context) error {
	password, err := cmd.password()
	if err != nil {
		return err
	}
	return with(ctx, func(a *app) error {
		by := core.System(core.Tenant{}, "loyalty admin create")
		_, err := staff.CreateAdmin(ctx, a.db, by, staff.New{Name: cmd.Name, Email: cmd.Email, Password: password})
		if err != nil {
			return err
		}
		fmt.Printf("made the super-admin %s <%s>\n", cmd.Name, cmd.Email)
		cmd.tell(password)
		return nil
	})
}

type adminResetPassword struct {
	Email string `required:"" help:"The e-mail address they sign in with."`
	passwordSource
}

// Run sets the password.
func (cmd adminResetPassword) Run(ctx context.Context) error {
	password, err := cmd.password()
	if err != nil {
		return err
	}
	return with(ctx, func(a *app) error {
		by := core.System(core.Tenant{}, "loyalty admin reset-password")
		p, err := a.auth.SetAdminPassword(ctx, by, cmd.Email, password)
		if errors.Is(err, core.ErrNotFound) {
			return fmt.Errorf("no active super-admin has the e-mail address %s", cmd.Email)
		}
		if err != nil {
			return err
		}
		fmt.Printf("set another password for %s <%s> and ended their sessions\n", p.Name, p.Email)
		cmd.tell(password)
		return nil
	})
}

type adminResetFactor struct {
	Email  string `required:"" help:"The e-mail address they sign in with."`
	Tenant string `help:"The slug of the business whose person it is. Without it, a super-admin's."`
}

// Run turns two-step verification off.
func (cmd adminResetFactor) Run(ctx context.Context) error {
	return with(ctx, func(a *app) error {
		where, t := "the platform", core.Tenant{}
		if cmd.Tenant != "" {
			found, err := tenant.BySlug(ctx, a.db, cmd.Tenant)
			if errors.Is(err, core.ErrNotFound) {
				return fmt.Errorf("no business has the slug %s", cmd.Tenant)
			}
			if err != nil {
				return err
			}
			where, t = found.Name, found
		}
		p, err := a.auth.ResetTwoFactor(ctx, core.System(t, "loyalty admin reset-factor"), cmd.Email)
		switch {
		case errors.Is(err, auth.ErrTwoFactorOff):
			return fmt.Errorf("two-step verification of %s is not on", cmd.Email)
		case errors.Is(err, core.ErrNotFound):
			return fmt.Errorf("no one signs in to %s with the e-mail address %s", where, cmd.Email)
		case err != nil:
			return err
		}
		fmt.Printf("turned off two-step verification of %s <%s> and ended their sessions\n", p.Name, p.Email)
		return nil
	})
}
