"""discord.py of Debian, unmodified, against guildd. Prints a word for each thing that worked; strangers.mjs reads them.

Only the two constants with Discord's addresses are set."""
import json
import os

import discord
import yarl
from discord import app_commands
from discord.gateway import DiscordWebSocket

ready = json.loads(os.environ['READY'])
discord.http.Route.BASE = ready['rest']
DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(ready['gateway'])

intents = discord.Intents.none()
intents.guilds = intents.guild_messages = intents.message_content = intents.voice_states = True
client = discord.Client(intents=intents)
tree = app_commands.CommandTree(client)


def tell(word):
    print(word, flush=True)


@tree.command(name='hello', description='says hello')
async def hello(interaction):
    await interaction.response.defer()
    await interaction.edit_original_response(content='hello from discord.py')


@client.event
async def on_ready():
    tell('login')
    guild = client.get_guild(41771983423143937)
    if guild and guild.get_channel(127121515262115840) and guild.member_count == 3:
        tell('guild')
    await tree.sync()
    tell('command')


@client.event
async def on_message(message):
    if message.author.id != client.user.id:
        await message.channel.send(f'read: {message.content}')


client.run('guildd.bot.token', log_level=30)
