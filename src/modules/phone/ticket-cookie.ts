const NAME = 'quitado-phone'
const YEAR_SECONDS = 31_536_000

/** Scripts cannot read it, other sites cannot send it, other pages of ours never get it. */
export const ticketCookie = (ticket: string, secure: boolean): string =>
  `${NAME}=${ticket}; Path=/phone; Max-Age=${YEAR_SECONDS}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`

export const readTicket = (header: string | undefined): string | undefined =>
  header
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${NAME}=`))
    ?.slice(NAME.length + 1)
