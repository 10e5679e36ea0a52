declare const brand: unique symbol

/** Two values of one base type that must not be swapped are two types. */
export type Brand<Base, Name extends string> = Base & { readonly [brand]: Name }
